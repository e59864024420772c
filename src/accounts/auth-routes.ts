// The paths of sign-in: what each takes, and how often it may be asked. Nothing else of better-auth is reachable.

import type { Pace } from "./throttle.ts";

/** How tries are counted. Per address each path has a bucket of its own; the others are of the person that is named. */
export type Counting = {
  readonly perAddress: Pace;
  /** Counted by the e-mail address of the body as well. */
  readonly perEmail?: Pace;
  /** A try that turned out well is not counted. */
  readonly givesBack?: true;
};

export type AuthRoute = {
  readonly verb: "GET" | "POST";
  /** Below `/auth`; a segment that begins with a colon is any. */
  readonly path: string;
  /** The fields of the body that are passed on, all of them texts but for those in `flags`. */
  readonly fields?: readonly string[];
  readonly flags?: readonly string[];
  /** Which of the fields must have something in it. */
  readonly required?: readonly string[];
  readonly counting: Counting;
  /** What is passed on whatever the body says. */
  readonly always?: Readonly<Record<string, unknown>>;
  /** The field with a new password. */
  readonly newPassword?: string;
  /** Needs a way to send mail. */
  readonly mails?: true;
  /** The answer takes as long whether there is such a person or not. */
  readonly evenTime?: true;
  /** Also taken as the form of a page without scripts. */
  readonly isForm?: true;
};

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
    // Whoever changes a password because somebody else knows it wants the others out.
    always: { revokeOtherSessions: true },
    counting: GUESSING,
  },
  { verb: "POST", path: "/revoke-other-sessions", counting: READING },
  { verb: "POST", path: "/revoke-sessions", counting: READING },
  { verb: "POST", path: "/demo/sign-in", counting: GUESSING },
  {
    verb: "POST",
    path: "/operator/set-up",
    fields: ["token", "email", "password", "name"],
    required: ["token", "email", "password"],
    counting: GUESSING,
    isForm: true,
  },
];
