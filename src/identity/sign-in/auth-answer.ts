// Translates the answers of better-auth to the shapes and errors of this service.

import {
  type DomainError,
  InternalError,
  NotFound,
  NotSignedIn,
  PermissionDenied,
  ValidationError,
  WrongPassword,
  WrongProof,
} from "../../kernel/errors.ts";
import type { AuthRoute } from "./auth-routes.ts";
import type { AuthServer } from "./auth-server.ts";

/** The answer to a request to a path of sign-in. */
export type AuthAnswer = {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** JSON; empty where the answer leads elsewhere. */
  readonly body: string;
  /** The password was right, and a second factor is asked for. */
  readonly isHalfWay?: true;
  /** Whose password it was, where the answer has shown that the caller knows it or reads the address. */
  readonly email?: string;
};

/** Asks better-auth, and throws its failures as errors of ours. */
export async function askServer(server: AuthServer, asked: Request): Promise<Response> {
  const again = asked.clone();
  let response = await server.handler(asked);
  if (response.status < 400) return response;
  let failure: unknown = await response.json().catch(() => null);
  // Another sign-up with the address came between better-auth's look and its insert. Now it finds that person.
  if (codeOf(failure) === "FAILED_TO_CREATE_USER") {
    response = await server.handler(again);
    if (response.status < 400) return response;
    failure = await response.json().catch(() => null);
  }
  throw toError(response.status, failure);
}

function codeOf(failure: unknown): string {
  const code = typeof failure === "object" && failure !== null && "code" in failure ? failure.code : "";
  return typeof code === "string" ? code : "";
}

function toError(status: number, failure: unknown): DomainError {
  const facts = typeof failure === "object" && failure !== null ? (failure as Record<string, unknown>) : {};
  const code = codeOf(failure);
  const message = typeof facts["message"] === "string" ? facts["message"] : "is not valid";
  // Only the mailbox of an address learns that it waits to be verified; a sign-in does not.
  if (code === "INVALID_EMAIL_OR_PASSWORD" || code === "EMAIL_NOT_VERIFIED") return new WrongPassword();
  if (WRONG_PROOF.test(code)) return new WrongProof();
  if (status === 401) return new NotSignedIn();
  if (status === 403 && !/CALLBACK|REDIRECT/.test(code)) return new PermissionDenied();
  if (status === 404) return new NotFound();
  if (status >= 500) return new InternalError({ cause: new Error(`better-auth: ${status} ${code}`) });
  const field = fieldOfCode.find(([pattern]) => pattern.test(code))?.[1] ?? "";
  return new ValidationError([{ field, rule: code.toLowerCase(), message: message.replace(/\.$/, "") }]);
}

const WRONG_PROOF =
  /^(INVALID_CODE|INVALID_BACKUP_CODE|PASSKEY_NOT_FOUND|AUTHENTICATION_FAILED|CHALLENGE_NOT_FOUND|FAILED_TO_VERIFY_REGISTRATION)$/;

const fieldOfCode: readonly [RegExp, string][] = [
  [/PASSWORD/, "password"],
  [/EMAIL/, "email"],
  [/TOKEN/, "token"],
  [/CALLBACK/, "callbackURL"],
  [/REDIRECT/, "redirectTo"],
];

/** Removes what belongs into cookies alone: a script that reads a session's token could send it elsewhere. */
export async function toAnswer(response: Response, route: AuthRoute): Promise<AuthAnswer> {
  const headers = [...response.headers].filter(([name]) => name === "set-cookie" || name === "location");
  const text = await response.text();
  if (text === "" || response.status >= 300) return { status: response.status, headers, body: "" };
  // The row of a passkey is of no use to a page.
  if (route.passkey === "registration") return { status: response.status, headers, body: '{"status":true}' };
  const { token: _, ...shown } = { token: null, ...(JSON.parse(text) as Record<string, unknown> | null) };
  const session = shown["session" as keyof typeof shown] as Record<string, unknown> | null | undefined;
  if (session !== null && session !== undefined) delete session["token"];
  // better-auth asks for less; a passkey without a finger, a face or a PIN is refused.
  if ("userVerification" in shown) Object.assign(shown, { userVerification: "required" });
  const body = JSON.parse(text) === null ? "null" : JSON.stringify(shown);
  const isHalfWay = "twoFactorRedirect" in shown ? { isHalfWay: true as const } : {};
  return { status: response.status, headers, body, ...isHalfWay };
}
