// Signing in and out. These few calls set or clear the session cookie, so they go to /auth instead of a contract;
// everything else about a person comes from AccountsService.

import { confirmed } from "./confirm.ts";

/** Signing in failed; `code` is a reason that a page can translate. */
export class SignInError extends Error {
  readonly status: number;
  readonly requestId: string;
  readonly code: string;
  /** The first wrong field, and the rule that it breaks. Empty: none was named. */
  readonly field: string;
  readonly rule: string;
  readonly retryAfterSeconds: number | null;
  constructor(facts: {
    status: number;
    code: string;
    field: string;
    rule: string;
    requestId: string;
    retryAfterSeconds: number | null;
  }) {
    super(facts.code);
    this.status = facts.status;
    this.code = facts.code;
    this.field = facts.field;
    this.rule = facts.rule;
    this.requestId = facts.requestId;
    this.retryAfterSeconds = facts.retryAfterSeconds;
  }
}

/**
 * Whether an error means that the session has ended. On the page for signing in, the same code means a wrong password.
 */
export function isSessionOver(error: unknown): boolean {
  return error instanceof SignInError && error.status === 401;
}

/** The second steps that a person may take. Null: none is asked for. */
export type SecondStep = readonly ("totp" | "passkey")[] | null;

/**
 * Signs in with an address and a password. Returns the second steps to choose from; null: signed in. Errors:
 * SignInError.
 */
export async function signIn(facts: { email: string; password: string }): Promise<SecondStep> {
  const answer = await post("/auth/sign-in/email", facts);
  if (typeof answer !== "object" || answer === null || !("twoFactorMethods" in answer)) return null;
  return answer.twoFactorMethods as SecondStep;
}

/** Asks for an account; a mail with a link follows, which leads to the page `next`. Errors: SignInError. */
export const signUp = ({ next, ...facts }: { name: string; email: string; password: string; next: string }) =>
  post("/auth/sign-up/email", { ...facts, callbackURL: next });

/** Sends the mail of a sign-up again. The answer does not show whether the address is known. Errors: SignInError. */
export const sendVerification = ({ email, next }: { email: string; next: string }) =>
  post("/auth/send-verification-email", { email, callbackURL: next });

/** Ends the session. Errors: SignInError. */
export const signOut = () => post("/auth/sign-out", {});

/**
 * Asks for a mail with a link to choose a new password. The answer does not show whether the address is known. Errors:
 * SignInError.
 */
export const forgetPassword = (email: string) =>
  post("/auth/request-password-reset", { email, redirectTo: "/reset-password" });

/** Sets a new password with the token of a mail. Errors: SignInError. */
export const resetPassword = (facts: { token: string; newPassword: string }) => post("/auth/reset-password", facts);

/** Changes the password of the signed-in person and ends the other sessions. Errors: SignInError. */
export const changePassword = (facts: { currentPassword: string; newPassword: string }) =>
  confirmed(() => post("/auth/change-password", facts));

/** Ends every session of who is signed in, this one too. Errors: SignInError. */
export const signOutEverywhere = () => confirmed(() => post("/auth/revoke-sessions", {}));

/** Signs in as the demo's person; only a demo has this path. Errors: SignInError. */
export const signInToDemo = () => post("/auth/demo/sign-in", {});

/** Posts JSON to a path under /auth. Errors: SignInError. */
export function post(path: string, body: unknown): Promise<unknown> {
  const headers = { "content-type": "application/json" };
  return ask(path, { method: "POST", headers, body: JSON.stringify(body) });
}

/** Reads from a path under /auth. Errors: SignInError. */
export async function ask(path: string, init: RequestInit = {}): Promise<unknown> {
  // The page's language is that of the mails that a call sends.
  const headers = new Headers(init.headers);
  headers.set("accept-language", document.documentElement.lang);
  const response = await fetch(path, { ...init, headers, credentials: "same-origin" }).catch(() => null);
  if (response === null)
    throw new SignInError({
      status: 0,
      code: "unreachable",
      field: "",
      rule: "",
      requestId: "",
      retryAfterSeconds: null,
    });
  const answer: unknown = await response.json().catch(() => null);
  if (response.ok) return answer;
  throw new SignInError({
    status: response.status,
    code: textOf(answer, "error") ?? textOf(answer, "code") ?? "unknown",
    field: textOf(firstDetail(answer), "field") ?? "",
    rule: textOf(firstDetail(answer), "rule") ?? "",
    requestId: response.headers.get("x-request-id") ?? "",
    retryAfterSeconds: Number(response.headers.get("retry-after") ?? Number.NaN) || null,
  });
}

function firstDetail(answer: unknown): unknown {
  if (typeof answer !== "object" || answer === null) return null;
  const details: unknown = Reflect.get(answer, "details");
  return Array.isArray(details) ? details[0] : null;
}

function textOf(answer: unknown, name: string): string | null {
  if (typeof answer !== "object" || answer === null) return null;
  const value: unknown = Reflect.get(answer, name);
  return typeof value === "string" ? value : null;
}
