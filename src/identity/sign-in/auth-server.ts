// better-auth, set up for this service. Loading it takes most of a second, so sign-in.ts imports this file for the first
// person. Only sign-in.ts reaches it, which counts tries and passes only our own paths on.

import { randomBytes } from "node:crypto";
import type { Pool } from "pg";
import { APIError, createEmailVerificationToken, isAPIError } from "better-auth/api";
import { betterAuth } from "better-auth/minimal";
import { uuidv7 } from "../../kernel/ids.ts";
import { preferredLanguage } from "../../kernel/preferred-language.ts";
import { authTables } from "./auth-tables.ts";
import { CHALLENGE_COOKIE, factorPlugins, PASSKEY_COOKIE } from "../second-factor/factor-plugins.ts";
import type { FactorSecrets } from "../second-factor/factor-secrets.ts";
import type { Mail, Mailer } from "../mailer.ts";
import { alreadyThereMail, passwordChangedMail, type Reader, resetMail, verificationMail } from "../mails.ts";
import { ownPlugin, type OwnPluginDependencies } from "./auth-plugins.ts";
import { hashPassword, MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH, verifyPassword } from "../passwords/passwords.ts";
import { applySignUp } from "./pending-sign-ups.ts";
import { keepSignUpLanguage } from "../people-store.ts";
import { noteProof, type ProofKind } from "../session-proof.ts";
import { cookiePlanOf } from "../session-cookie.ts";

/** For how long a link in a mail works. */
export const LINK_SECONDS = 600;
const DAY_SECONDS = 86_400;
/** An unused session ends after this. */
const SESSION_IDLE_SECONDS = 7 * DAY_SECONDS;
/** A session in use is prolonged so often at most: each time is a write. */
const SESSION_PROLONGED_SECONDS = DAY_SECONDS;
/** The caller's address; only sign-in.ts sets it. */
export const CLIENT_ADDRESS_HEADER = "x-saldo-client-address";
/** The page that the link of a mail is to lead to, encoded; only sign-in.ts sets it. */
const LANDING_HEADER = "x-saldo-landing";
export const AUTH_PATH = "/auth";
/** The page to which a link leads, for choosing a password. */
const CHOOSE_PASSWORD_PAGE = "/reset-password";

export type AuthServerDependencies = OwnPluginDependencies & {
  readonly pool: Pool;
  readonly mailer: Mailer;
  readonly baseUrl: string;
  /** What cookies and links are signed with. */
  readonly secret: string;
  readonly factorSecrets: FactorSecrets;
  /** Called with the request that has set a password by a link, and with the address. */
  readonly onPasswordReset: (request: Request | undefined, email: string) => void;
  /** Called with the session that a request has begun. */
  readonly onSession: (request: Request | undefined, sessionId: string) => Promise<void>;
  /** A mail that could not be sent. Its reader can ask for another. */
  readonly onMailLost: (error: unknown) => void;
};

/** The proof of each path that begins a session. A path that is not here proves nothing. */
const proofOfPath: Readonly<Record<string, ProofKind>> = {
  "/sign-in/email": "password",
  // Only the browser that has just chosen the password gets a session by the link.
  "/verify-email": "password",
  "/operator/set-up": "password",
  "/two-factor/verify-totp": "factor",
  "/two-factor/verify-backup-code": "factor",
  "/passkey/verify-authentication": "factor",
  "/demo/sign-in": "demo",
};

export type AuthServer = { handler(request: Request): Promise<Response> };

const VERIFY = `UPDATE auth.person SET email_verified = true, updated_at = clock_timestamp() WHERE id = $1::uuid`;
// A person who signs up again is not removed as unverified.
const SIGNED_UP_AGAIN = `UPDATE auth.person SET updated_at = clock_timestamp() WHERE id = $1::uuid AND NOT email_verified`;

/** The reader of a mail, in the language of the page that asks for it. */
function readerOf({ email }: { readonly email: string }, request: Request | undefined): Reader {
  return { to: email, language: preferredLanguage(request?.headers.get("accept-language") ?? undefined) };
}

/** The page that a sign-up asks to be led to by the link of its mail. better-auth has checked that it is one of ours. */
function landingOf(request: Request | undefined): string {
  return decodeURIComponent(request?.headers.get(LANDING_HEADER) ?? "/");
}

/** The page that a verification link leads to. better-auth has checked that it is one of ours. */
function landingOfLink(request: Request | undefined): string {
  const asked = request === undefined ? null : new URL(request.url).searchParams.get("callbackURL");
  return asked === null || asked === "" ? "/" : asked;
}

/** Builds it. */
export function createAuthServer(dependencies: AuthServerDependencies): AuthServer {
  const { pool, mailer, baseUrl, secret, factorSecrets } = dependencies;
  const cookies = cookiePlanOf(baseUrl);
  const named = (name: string) => ({ name, attributes: { secure: cookies.isSecure } });
  // No answer waits for the mail server: its time must not show whether the address is known.
  const send = async (mail: Mail): Promise<void> => void mailer.send(mail).catch(dependencies.onMailLost);
  const server = betterAuth({
    appName: "Saldo",
    baseURL: baseUrl,
    basePath: AUTH_PATH,
    secret,
    secrets: [...factorSecrets.numbered],
    database: authTables(pool),
    trustedOrigins: [new URL(baseUrl).origin],
    logger: { disabled: true },
    telemetry: { enabled: false },
    // Counted per address and per person in the database, by sign-in.ts.
    rateLimit: { enabled: false },
    // Errors that are not better-auth's own are thrown as they are: a database that is away is no fault.
    onAPIError: {
      onError(error) {
        if (!isAPIError(error)) throw error;
      },
    },
    emailAndPassword: {
      enabled: true,
      // Then the answer to a sign-up is the same, whether the address was free or taken.
      requireEmailVerification: true,
      minPasswordLength: MIN_PASSWORD_LENGTH,
      maxPasswordLength: MAX_PASSWORD_LENGTH,
      password: { hash: hashPassword, verify: verifyPassword },
      resetPasswordTokenExpiresIn: LINK_SECONDS,
      revokeSessionsOnPasswordReset: true,
      sendResetPassword: ({ user, url }, request) => send(resetMail(readerOf(user, request), url)),
      async onExistingUserSignUp({ user }, request) {
        const reader = readerOf(user, request);
        if (user.emailVerified) return send(alreadyThereMail(reader, baseUrl));
        await pool.query(SIGNED_UP_AGAIN, [user.id]);
        // The first mail was lost, or another person signed up with the address. The browser that opens the link decides
        // whose password counts.
        const token = await createEmailVerificationToken(secret, user.email, undefined, LINK_SECONDS);
        const query = new URLSearchParams({ token, callbackURL: landingOf(request) });
        return send(verificationMail(reader, `${baseUrl}${AUTH_PATH}/verify-email?${query.toString()}`));
      },
      async onPasswordReset({ user }, request) {
        // The holder of the link reads the mail of the address.
        await pool.query(VERIFY, [user.id]);
        await keepSignUpLanguage(pool, { personId: user.id, language: readerOf(user, request).language });
        dependencies.onPasswordReset(request, user.email);
        await send(passwordChangedMail(readerOf(user, request), baseUrl));
      },
    },
    emailVerification: {
      sendOnSignUp: true,
      // A sign-in is no way to have mails sent to an address. The page offers to ask for another link, which is counted.
      sendOnSignIn: false,
      autoSignInAfterVerification: true,
      expiresIn: LINK_SECONDS,
      sendVerificationEmail: ({ user, url }, request) => send(verificationMail(readerOf(user, request), url)),
      async beforeEmailVerification(person, request) {
        const asked = { cookies: request?.headers.get("cookie") ?? "", plan: cookies, person };
        if (!(await applySignUp(pool, asked))) await chooseOwnPassword(person.id, landingOfLink(request));
      },
    },
    databaseHooks: {
      session: {
        create: {
          async after({ id }, context) {
            const proof = proofOfPath[context?.path ?? ""];
            if (proof !== undefined) await noteProof(pool, id, proof);
            await dependencies.onSession(context?.request, id);
          },
        },
      },
    },
    session: {
      // sign-in.ts has checked how fresh the proof is.
      freshAge: 0,
      expiresIn: SESSION_IDLE_SECONDS,
      updateAge: SESSION_PROLONGED_SECONDS,
      // Every call looks into the database, so that a session that was ended is over everywhere.
      cookieCache: { enabled: false },
    },
    verification: { storeIdentifier: "hashed" },
    advanced: {
      // Else NODE_ENV=test or TEST=true in the environment would switch the check of origins off.
      disableOriginCheck: false,
      useSecureCookies: false, // means better-auth's own prefix
      cookies: {
        session_token: named(cookies.sessionName),
        session_data: named(`${cookies.sessionName}_data`),
        account_data: named(`${cookies.sessionName}_account`),
        dont_remember: named(`${cookies.sessionName}_brief`),
        [CHALLENGE_COOKIE]: named(`${cookies.sessionName}_second_step`),
        [PASSKEY_COOKIE]: named(`${cookies.sessionName}_passkey`),
      },
      defaultCookieAttributes: { httpOnly: true, sameSite: "lax", path: "/" },
      ipAddress: { ipAddressHeaders: [CLIENT_ADDRESS_HEADER] },
      database: { generateId: () => uuidv7() },
    },
    plugins: [ownPlugin(dependencies), ...factorPlugins({ pool, factorSecrets, baseUrl })],
  });

  /** Leads the reader of a verification link to choosing a password, which verifies the address too. */
  async function chooseOwnPassword(personId: string, landing: string): Promise<never> {
    const token = randomBytes(32).toString("base64url");
    const { internalAdapter } = await server.$context;
    await internalAdapter.createVerificationValue({
      value: personId,
      identifier: `reset-password:${token}`,
      expiresAt: new Date(Date.now() + LINK_SECONDS * 1_000),
    });
    const next = landing === "/" ? {} : { next: landing };
    const query = new URLSearchParams({ token, after: "sign-up", ...next });
    throw new APIError("FOUND", undefined, { location: `${CHOOSE_PASSWORD_PAGE}?${query.toString()}` });
  }

  return server;
}
