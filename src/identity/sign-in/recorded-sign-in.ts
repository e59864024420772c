// Writes what browsers do at `/auth` into the security log: each try with its outcome, the e-mail address it was for, and
// the person where that is known. Reading a session is no event.

import { DomainError } from "../../kernel/errors.ts";
import type { AuthAnswer } from "./auth-answer.ts";
import type { SignedInPerson } from "../people.ts";
import type { RecordSecurityEvent, SecurityEvent, SecurityEventKind } from "../security-log.ts";
import type { AuthRequest, SignIn } from "./sign-in.ts";

type Recorded = {
  readonly kind: SecurityEventKind;
  readonly detail: string;
  /** The caller is signed in, and is not named in the answer. */
  readonly isOwnSession?: true;
};

/** What each path is in the log. Paths that are not here leave no line. */
export const RECORDED_PATHS: Readonly<Record<string, Recorded>> = {
  "/sign-up/email": { kind: "sign_up", detail: "password" },
  "/sign-in/email": { kind: "sign_in", detail: "password" },
  "/demo/sign-in": { kind: "sign_in", detail: "demo" },
  "/sign-out": { kind: "session_end", detail: "sign_out", isOwnSession: true },
  "/verify-email": { kind: "email_verification", detail: "link" },
  "/send-verification-email": { kind: "email_verification", detail: "mail_requested" },
  "/request-password-reset": { kind: "password_reset", detail: "mail_requested" },
  "/reset-password": { kind: "password_reset", detail: "password_set" },
  "/change-password": { kind: "password_change", detail: "password", isOwnSession: true },
  "/revoke-other-sessions": { kind: "session_end", detail: "other_sessions", isOwnSession: true },
  "/revoke-sessions": { kind: "session_end", detail: "all_sessions", isOwnSession: true },
  "/operator/set-up": { kind: "operator_role", detail: "set_up" },
  "/two-factor/verify-totp": { kind: "second_factor", detail: "totp", isOwnSession: true },
  "/two-factor/verify-backup-code": { kind: "recovery_code", detail: "used", isOwnSession: true },
  "/passkey/verify-authentication": { kind: "passkey", detail: "used", isOwnSession: true },
  "/passkey/verify-registration": { kind: "second_factor_change", detail: "passkey_added", isOwnSession: true },
  "/second-factor/set-up-app": { kind: "second_factor_change", detail: "app_begun", isOwnSession: true },
  "/second-factor/recovery-codes": { kind: "second_factor_change", detail: "recovery_codes", isOwnSession: true },
  "/second-factor/remove-app": { kind: "second_factor_change", detail: "app_removed", isOwnSession: true },
  "/second-factor/remove-passkey": { kind: "second_factor_change", detail: "passkey_removed", isOwnSession: true },
  "/second-factor/verify-password": { kind: "step_up", detail: "password", isOwnSession: true },
};

export type RecordedSignInDependencies = {
  readonly recordSecurityEvent: RecordSecurityEvent;
  /** Who is signed in by a Cookie header. */
  readonly verifySession: (cookies: string) => Promise<SignedInPerson | null>;
};

/** The same sign-in, with its lines in the security log. */
export function recordSignIns(signIn: SignIn, dependencies: RecordedSignInDependencies): SignIn {
  const { recordSecurityEvent, verifySession } = dependencies;
  return {
    async answer(request) {
      const recorded = RECORDED_PATHS[request.route.path];
      if (recorded === undefined) return signIn.answer(request);
      // Looked up before: afterwards the session may be over.
      const own = recorded.isOwnSession === true ? await verifySession(request.cookies) : null;
      const known = { kind: recorded.kind, address: request.address, email: emailOf(request) ?? own?.email ?? null };
      try {
        const answer = await signIn.answer(request);
        recordSecurityEvent({ ...known, ...endOf(request, answer, recorded), ...whoOf(answer, own, recorded) });
        return answer;
      } catch (error) {
        const detail = error instanceof DomainError ? `${recorded.detail} ${error.code}` : `${recorded.detail} fault`;
        recordSecurityEvent({ ...known, personId: own?.personId ?? null, outcome: "refused", detail });
        throw error;
      }
    },
  };
}

function emailOf({ body }: AuthRequest): string | null {
  return typeof body["email"] === "string" ? body["email"] : null;
}

/** A link that is too old leads to a page that shows it. */
function endOf(
  request: AuthRequest,
  { headers, body }: AuthAnswer,
  { detail }: Recorded,
): Pick<SecurityEvent, "outcome" | "detail"> {
  const location = headers.find(([name]) => name === "location")?.[1] ?? "";
  // The password was right, and the sign-in waits for its second step.
  if (body.includes('"twoFactorRedirect":true'))
    return { outcome: "succeeded", detail: `${detail} second_factor_pending` };
  const isRefused = request.route.verb === "GET" && /[?&]error=/.test(location);
  return isRefused ? { outcome: "refused", detail: `${detail} not_valid` } : { outcome: "succeeded", detail };
}

/** The person of an answer, or the one who was signed in. The answer to a sign-up may name a person who is not there. */
function whoOf({ body, email }: AuthAnswer, own: SignedInPerson | null, { kind }: Recorded): Partial<SecurityEvent> {
  const named = kind === "sign_up" ? undefined : /"user":\{[^{}]*"id":"([0-9a-f-]{36})"/.exec(body)?.[1];
  const personId = own?.personId ?? named ?? null;
  return { personId, ...(email === undefined ? {} : { email }) };
}
