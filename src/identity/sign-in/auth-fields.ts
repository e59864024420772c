// Reads the fields of a body that the route names, and no others.

import { type FieldProblem, ValidationError } from "../../kernel/errors.ts";
import type { AuthRoute } from "./auth-routes.ts";
import { isEmailAddress } from "../customers.ts";
import { isReservedAddress } from "../demo-person.ts";
import { isCommonPassword } from "../passwords/passwords.ts";
import { readRecoveryCode } from "../second-factor/recovery-codes.ts";

const MAX_TEXT_LENGTH = 2_048;
const MAX_NAME_LENGTH = 100;
/** The longest part of a passkey's answer; a body has 16 KiB at most. */
const MAX_PASSKEY_LENGTH = 12_000;

/** The fields a path takes. Errors: ValidationError naming each that is wrong. */
export function readAuthFields({
  route,
  body,
}: {
  route: AuthRoute;
  body: Readonly<Record<string, unknown>>;
}): Record<string, unknown> {
  const problems: FieldProblem[] = [];
  const wrong = (field: string, rule: string, message: string) => void problems.push({ field, rule, message });
  const fields: Record<string, unknown> = {};
  for (const field of route.fields ?? []) {
    const value = Object.hasOwn(body, field) ? body[field] : undefined;
    if (value === undefined || value === null || value === "") {
      if (route.required?.includes(field)) wrong(field, "required", "is required");
    } else if (typeof value !== "string") wrong(field, "type", "must be a string");
    else if (value.length > MAX_TEXT_LENGTH || value.includes("\0")) wrong(field, "string.length", "is too long");
    else if (!value.isWellFormed()) wrong(field, "string.form", "must be well-formed Unicode");
    else fields[field] = value;
  }
  for (const flag of route.flags ?? []) {
    const value = Object.hasOwn(body, flag) ? body[flag] : undefined;
    if (value === undefined || value === null) continue;
    if (typeof value === "boolean") fields[flag] = value;
    else wrong(flag, "type", "must be true or false");
  }
  const { email: given, name } = fields;
  const email = typeof given === "string" ? given.trim().toLowerCase() : "";
  if (typeof given === "string") {
    // The address has no credentials, so a sign-in with it fails like any other.
    if (isReservedAddress(email) && route.path !== "/sign-in/email") wrong("email", "email.reserved", "is reserved");
    else if (isEmailAddress(email)) fields["email"] = email;
    else wrong("email", "email.shape", "must be an e-mail address");
  }
  if (typeof name === "string" && name.length > MAX_NAME_LENGTH) {
    wrong("name", "string.length", `must have at most ${MAX_NAME_LENGTH} characters`);
  }
  if (typeof fields["code"] === "string") {
    const { code } = fields as { code: string };
    fields["code"] = route.path.endsWith("backup-code") ? readRecoveryCode(code) : code.replace(/\s/g, "");
  }
  if (route.passkey !== undefined) {
    const response = readPasskeyAnswer(body["response"], route.passkey);
    if (response === null) wrong("response", "passkey", "must be the answer of a passkey");
    else fields["response"] = response;
  }
  const password = route.newPassword === undefined ? undefined : fields[route.newPassword];
  if (route.newPassword !== undefined && typeof password === "string" && isCommonPassword(password, email)) {
    wrong(route.newPassword, "password.common", "is one that is guessed first");
  }
  if (problems.length > 0) throw new ValidationError(problems);
  // better-auth needs a name; a sign-up may have none.
  if (route.path === "/sign-up/email") fields["name"] ??= email.split("@", 1)[0] ?? "";
  return fields;
}

const PASSKEY_PARTS = {
  registration: ["clientDataJSON", "attestationObject"],
  authentication: ["clientDataJSON", "authenticatorData", "signature"],
} as const satisfies Record<NonNullable<AuthRoute["passkey"]>, readonly string[]>;

/** The answer of a browser to a passkey ceremony, rebuilt from the parts that are read. Null: it is none. */
function readPasskeyAnswer(given: unknown, ceremony: NonNullable<AuthRoute["passkey"]>): object | null {
  const id = textOf(given, "id");
  const parts = fieldOf(given, "response");
  const entries = PASSKEY_PARTS[ceremony].map((name) => [name, textOf(parts, name)] as const);
  if (id === null || entries.some(([, value]) => value === null)) return null;
  const transports = fieldOf(parts, "transports");
  const known = Array.isArray(transports) ? transports.filter((each) => typeof each === "string").slice(0, 8) : [];
  return {
    id,
    rawId: id,
    type: "public-key",
    clientExtensionResults: {},
    response: { ...Object.fromEntries(entries), ...(ceremony === "registration" ? { transports: known } : {}) },
  };
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name) ? Reflect.get(value, name) : null;
}

/** A text in base64url. */
function textOf(value: unknown, name: string): string | null {
  const text = fieldOf(value, name);
  return typeof text === "string" && text.length <= MAX_PASSKEY_LENGTH && /^[A-Za-z0-9_-]+$/.test(text) ? text : null;
}
