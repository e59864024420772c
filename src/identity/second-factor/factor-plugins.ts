// better-auth's plugins of a second factor, set up for this service: codes of apps, recovery codes, passkeys. Which of their
// paths are reachable is in auth-routes.ts.

import type { Pool } from "pg";
import { passkey } from "@better-auth/passkey";
import type { BetterAuthPlugin } from "better-auth";
import { createAuthMiddleware, getSessionFromCtx } from "better-auth/api";
import { twoFactor } from "better-auth/plugins/two-factor";
import { createOTP } from "@better-auth/utils/otp";
import { TooManyTries, WrongProof } from "../../kernel/errors.ts";
import { CODE_TRIES, ONE_USE, triesOf, useOf } from "./code-tries.ts";
import type { FactorSecrets } from "./factor-secrets.ts";
import { hashOfRecoveryCode } from "./recovery-codes.ts";
import { readFactor, type StoredFactor } from "./second-factor-store.ts";
import { giveBackTry, takeTry } from "../throttle.ts";

/** The names of the cookies of a sign-in that waits for its second step, and of a passkey's challenge. */
export const CHALLENGE_COOKIE = "two_factor";
export const PASSKEY_COOKIE = "passkey_challenge";

/** This text is in no list of hashes. */
const NO_HASH = "";

const APP_PATH = "/two-factor/verify-totp";
const RECOVERY_PATH = "/two-factor/verify-backup-code";

type FactorPluginsOptions = {
  readonly pool: Pool;
  readonly factorSecrets: FactorSecrets;
  readonly baseUrl: string;
};

/** The plugins. */
export function factorPlugins({ pool, factorSecrets, baseUrl }: FactorPluginsOptions) {
  return [
    checkCodes({ pool, factorSecrets }),
    twoFactor({
      issuer: "Saldo",
      // Tries are bounded per person by checkCodes, in the table that bounds all others.
      accountLockout: { enabled: false },
      // A list of hashes as it is: checkCodes puts the hash of a code into its place.
      backupCodeOptions: { storeBackupCodes: "plain" },
    }),
    passkey({
      rpName: "Saldo",
      ...passkeySiteOf(baseUrl),
      authenticatorSelection: { residentKey: "required", userVerification: "required" },
      registration: {
        afterVerification: ({ verification }) => {
          requireUserVerified(verification.registrationInfo?.userVerified);
        },
      },
      authentication: {
        afterVerification: ({ verification }) => {
          requireUserVerified(verification.authenticationInfo.userVerified);
        },
      },
      advanced: { webAuthnChallengeCookie: PASSKEY_COOKIE },
    }),
  ];
}

/** Browsers keep no passkey for an address of numbers; on the machine itself `localhost` is the same place. */
function passkeySiteOf(baseUrl: string): { rpID: string; origin: string[] } {
  const { hostname, origin, port } = new URL(baseUrl);
  if (hostname !== "127.0.0.1") return { rpID: hostname, origin: [origin] };
  return { rpID: "localhost", origin: [origin, `http://localhost${port === "" ? "" : `:${port}`}`] };
}

/** A passkey counts as two factors, so its device must have asked for a finger, a face or a PIN. */
function requireUserVerified(isVerified: boolean | undefined): void {
  if (isVerified !== true) throw new WrongProof();
}

/**
 * Counts the tries of codes per person, takes a code of an app once and within its own 30 seconds, and hands better-auth the hash
 * of a recovery code in place of the code.
 */
function checkCodes({ pool, factorSecrets }: Omit<FactorPluginsOptions, "baseUrl">): BetterAuthPlugin {
  /** The factor of the person who tries a code, in the current form. Null: there is none, and the endpoint refuses. */
  async function factorOf(ctx: HookContext): Promise<StoredFactor | null> {
    const personId = await personOf(ctx);
    const stored = personId === null ? null : await readFactor(pool, personId);
    return stored === null ? null : factorSecrets.renewed(pool, stored);
  }

  return {
    id: "saldo-code-tries",
    hooks: {
      before: [
        {
          matcher: ({ path }) => path === APP_PATH || path === RECOVERY_PATH,
          handler: createAuthMiddleware(async (ctx) => {
            const personId = await personOf(ctx);
            // Without a session or a sign-in under way the endpoint refuses.
            if (personId === null) return;
            const seconds = await takeTry(pool, triesOf(personId), CODE_TRIES);
            if (seconds > 0) throw new TooManyTries(seconds);
          }),
        },
        {
          matcher: ({ path }) => path === APP_PATH,
          handler: createAuthMiddleware(async (ctx) => {
            const factor = await factorOf(ctx);
            if (factor === null) return;
            const { code } = ctx.body as { code: string };
            const isUsed = (await takeTry(pool, useOf(factor.personId, code), ONE_USE)) > 0;
            // better-auth takes those of the step before and behind as well.
            const isOfNow = await createOTP(await factorSecrets.decrypt(factor.secret)).verify(code, { window: 0 });
            if (isUsed || !isOfNow) throw new WrongProof();
          }),
        },
        {
          matcher: ({ path }) => path === RECOVERY_PATH,
          handler: createAuthMiddleware(async (ctx) => {
            const factor = await factorOf(ctx);
            const { code } = ctx.body as { code: string };
            const hash = factor === null ? null : await hashOfRecoveryCode(factor.backupCodes, code);
            return { context: { body: { code: hash ?? NO_HASH } } };
          }),
        },
      ],
      after: [
        {
          matcher: ({ path }) => path === APP_PATH || path === RECOVERY_PATH,
          handler: createAuthMiddleware(async (ctx) => {
            const { returned } = ctx.context;
            if (typeof returned !== "object" || returned === null || !("user" in returned)) return;
            await giveBackTry(pool, triesOf((returned.user as { id: string }).id), CODE_TRIES);
          }),
        },
      ],
    },
  };
}

type HookContext = Parameters<typeof getSessionFromCtx>[0];

/** Whose code is tried: the session's person, else the one of the sign-in that waits. */
async function personOf(ctx: HookContext): Promise<string | null> {
  const session = await getSessionFromCtx(ctx);
  if (session !== null) return session.user.id;
  const { name } = ctx.context.createAuthCookie(CHALLENGE_COOKIE);
  const identifier = await ctx.getSignedCookie(name, ctx.context.secret);
  if (typeof identifier !== "string" || identifier === "") return null;
  return (await ctx.context.internalAdapter.findVerificationValue(identifier))?.value ?? null;
}
