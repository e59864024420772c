// What better-auth answers, in the shapes and errors of this service.

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

/** What a request to a path of sign-in is answered with. */
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

/** Asks, and turns what is thrown into an error of ours. */
export async function askServer(server: AuthServer, asked: Request): Promise<Response> {
  const again = asked.clone();
  let response = await server.handler(asked);
  if (response.status < 400) return response;
  let told: unknown = await response.json().catch(() => null);
  // Somebody else signed up with the address between its look and its insert. Now it finds that person.
  if (codeOf(told) === "FAILED_TO_CREATE_USER") {
    response = await server.handler(again);
    if (response.status < 400) return response;
    told = await response.json().catch(() => null);
  }
  throw toError(response.status, told);
}

function codeOf(told: unknown): string {
  const code = typeof told === "object" && told !== null && "code" in told ? told.code : "";
  return typeof code === "string" ? code : "";
}

function toError(status: number, told: unknown): DomainError {
  const facts = typeof told === "object" && told !== null ? (told as Record<string, unknown>) : {};
  const code = codeOf(told);
  const message = typeof facts["message"] === "string" ? facts["message"] : "is not valid";
  // Whether an address waits to be verified is for its mailbox, not for whoever signs in.
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

/** Takes out what belongs into cookies alone: a script that reads a session's token could carry it away. */
export async function toAnswer(response: Response, route: AuthRoute): Promise<AuthAnswer> {
  const headers = [...response.headers].filter(([name]) => name === "set-cookie" || name === "location");
  const text = await response.text();
  if (text === "" || response.status >= 300) return { status: response.status, headers, body: "" };
  // The row of a passkey is of no use to a page.
  if (route.passkey === "registration") return { status: response.status, headers, body: '{"status":true}' };
  const { token: _, ...told } = { token: null, ...(JSON.parse(text) as Record<string, unknown> | null) };
  const session = told["session" as keyof typeof told] as Record<string, unknown> | null | undefined;
  if (session !== null && session !== undefined) delete session["token"];
  // better-auth asks for less; what comes without a finger, a face or a PIN is refused.
  if ("userVerification" in told) Object.assign(told, { userVerification: "required" });
  const body = JSON.parse(text) === null ? "null" : JSON.stringify(told);
  const isHalfWay = "twoFactorRedirect" in told ? { isHalfWay: true as const } : {};
  return { status: response.status, headers, body, ...isHalfWay };
}
