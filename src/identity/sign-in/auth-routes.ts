// The paths of sign-in: the fields and the tries of each. Nothing else of better-auth is reachable.

import type { Pace } from "../throttle.ts";

/** How tries are counted. Per address each path has a bucket of its own; the others are of the person that is named. */
export type Counting = {
  readonly perAddress: Pace;
  /** Counted by the e-mail address of the body as well. */
  readonly perEmail?: Pace;
  /** A successful try is not counted. */
  readonly givesBack?: true;
};

export type AuthRoute = {
  readonly verb: "GET" | "POST";
  /** Below `/auth`; a segment that begins with a colon is any. */
  readonly path: string;
  /** The fields of the body that are passed on, all of them texts but for those in `flags`. */
  readonly fields?: readonly string[];
  readonly flags?: readonly string[];
  /** Which of the fields must not be empty. */
  readonly required?: readonly string[];
  readonly counting: Counting;
  /** What is passed on, over the fields of the body. */
  readonly always?: Readonly<Record<string, unknown>>;
  /** The field with a new password. */
  readonly newPassword?: string;
  /** Needs a way to send mail. */
  readonly mails?: true;
  /** The answer takes equally long for known and unknown addresses. */
  readonly evenTime?: true;
  /** Also taken as the form of a page without scripts. */
  readonly isForm?: true;
  /**
   * Needs a session; `fresh`: one with every proof of its person within the last minutes; `freshFactor`: the same for people with a
   * second factor, because the body holds the password of the others.
   */
  readonly needs?: "session" | "fresh" | "freshFactor";
  /** What a success proves for the session of the request, if it has one. */
  readonly proves?: "factor";
  /** The field `response` is the answer of a browser to a passkey ceremony. */
  readonly passkey?: "registration" | "authentication";
  /** The query is not passed on. */
  readonly noQuery?: true;
  /** Answered by second-factor.ts instead of better-auth. */
  readonly own?: OwnAnswer;
};

/** What second-factor.ts answers. */
export type OwnAnswer = "state" | "setUpApp" | "makeRecoveryCodes" | "removeApp" | "removePasskey" | "verifyPassword";

const READING: Counting = { perAddress: { burst: 300, intervalSeconds: 1 } };
const GUESSING: Counting = { perAddress: { burst: 30, intervalSeconds: 10 } };
const SIGNING_IN: Counting = {
  perAddress: { burst: 100, intervalSeconds: 5 },
  perEmail: { burst: 10, intervalSeconds: 60 },
  givesBack: true,
};
const MAILING: Counting = {
  perAddress: { burst: 20, intervalSeconds: 60 },
  perEmail: { burst: 5, intervalSeconds: 300 },
};

export const authRoutes: readonly AuthRoute[] = [
  {
    verb: "POST",
    path: "/sign-up/email",
    fields: ["email", "password", "name", "callbackURL"],
    required: ["email", "password"],
    newPassword: "password",
    counting: MAILING,
    mails: true,
    evenTime: true,
  },
  {
    verb: "POST",
    path: "/sign-in/email",
    fields: ["email", "password", "callbackURL"],
    flags: ["rememberMe"],
    required: ["email", "password"],
    counting: SIGNING_IN,
  },
  { verb: "POST", path: "/sign-out", counting: READING },
  { verb: "GET", path: "/get-session", counting: READING },
  { verb: "GET", path: "/verify-email", counting: GUESSING },
  {
    verb: "POST",
    path: "/send-verification-email",
    fields: ["email", "callbackURL"],
    required: ["email"],
    counting: MAILING,
    mails: true,
    evenTime: true,
  },
  {
    verb: "POST",
    path: "/request-password-reset",
    fields: ["email", "redirectTo"],
    required: ["email"],
    counting: MAILING,
    mails: true,
    evenTime: true,
  },
  { verb: "GET", path: "/reset-password/:token", counting: GUESSING },
  {
    verb: "POST",
    path: "/reset-password",
    fields: ["newPassword", "token"],
    required: ["newPassword", "token"],
    newPassword: "newPassword",
    counting: GUESSING,
  },
  {
    verb: "POST",
    path: "/change-password",
    fields: ["currentPassword", "newPassword"],
    required: ["currentPassword", "newPassword"],
    newPassword: "newPassword",
    // A password may be changed because another person knows it, so all other sessions end.
    always: { revokeOtherSessions: true },
    needs: "freshFactor",
    counting: GUESSING,
  },
  // A stolen session must not end those of its owner.
  { verb: "POST", path: "/revoke-other-sessions", needs: "fresh", counting: READING },
  { verb: "POST", path: "/revoke-sessions", needs: "fresh", counting: READING },
  { verb: "POST", path: "/demo/sign-in", counting: GUESSING },
  {
    verb: "POST",
    path: "/operator/set-up",
    fields: ["token", "email", "password", "name"],
    required: ["token", "email", "password"],
    counting: GUESSING,
    isForm: true,
  },
  // The second step of a sign-in; with a session: confirms an app that is being set up, or proves the person again.
  {
    verb: "POST",
    path: "/two-factor/verify-totp",
    fields: ["code"],
    required: ["code"],
    proves: "factor",
    counting: GUESSING,
  },
  {
    verb: "POST",
    path: "/two-factor/verify-backup-code",
    fields: ["code"],
    required: ["code"],
    proves: "factor",
    counting: GUESSING,
  },
  { verb: "GET", path: "/passkey/generate-authenticate-options", noQuery: true, counting: GUESSING },
  { verb: "POST", path: "/passkey/verify-authentication", passkey: "authentication", counting: GUESSING },
  { verb: "GET", path: "/passkey/generate-register-options", noQuery: true, needs: "fresh", counting: GUESSING },
  {
    verb: "POST",
    path: "/passkey/verify-registration",
    fields: ["name"],
    passkey: "registration",
    needs: "fresh",
    proves: "factor",
    counting: GUESSING,
  },
  { verb: "GET", path: "/second-factor/state", noQuery: true, needs: "session", own: "state", counting: READING },
  { verb: "POST", path: "/second-factor/set-up-app", needs: "fresh", own: "setUpApp", counting: GUESSING },
  { verb: "POST", path: "/second-factor/recovery-codes", needs: "fresh", own: "makeRecoveryCodes", counting: GUESSING },
  { verb: "POST", path: "/second-factor/remove-app", needs: "fresh", own: "removeApp", counting: GUESSING },
  {
    verb: "POST",
    path: "/second-factor/remove-passkey",
    fields: ["id"],
    required: ["id"],
    needs: "fresh",
    own: "removePasskey",
    counting: GUESSING,
  },
  {
    verb: "POST",
    path: "/second-factor/verify-password",
    fields: ["password"],
    required: ["password"],
    needs: "session",
    own: "verifyPassword",
    counting: GUESSING,
  },
];
