// better-auth's plugins of a second factor, set up for this service: codes of apps, recovery codes, passkeys. Which of their
// paths are reachable is in auth-routes.ts.

import type { Pool } from "pg";
import { passkey } from "@better-auth/passkey";
import type { BetterAuthPlugin } from "better-auth";
import { createAuthMiddleware, getSessionFromCtx } from "better-auth/api";
import { twoFactor } from "better-auth/plugins/two-factor";
import { TooManyTries, WrongProof } from "../kernel/errors.ts";
import { CODE_TRIES, ONE_USE, triesOf, useOf } from "./code-tries.ts";
import { giveBackTry, takeTry } from "./throttle.ts";

/** The names of the cookies of a sign-in that waits for its second step, and of a passkey's challenge. */
export const CHALLENGE_COOKIE = "two_factor";
export const PASSKEY_COOKIE = "passkey_challenge";

const CODE_PATHS: ReadonlySet<string> = new Set(["/two-factor/verify-totp", "/two-factor/verify-backup-code"]);

/** The plugins. */
export function factorPlugins({ pool, baseUrl }: { pool: Pool; baseUrl: string }) {
  return [
    boundTries(pool),
    twoFactor({
      issuer: "Saldo",
      // Tries are bounded per person by boundTries, in the table that bounds all others.
      accountLockout: { enabled: false },
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

/** Counts the tries of codes per person, and takes each code of an app once. */
function boundTries(pool: Pool): BetterAuthPlugin {
  return {
    id: "saldo-code-tries",
    hooks: {
      before: [
        {
          matcher: ({ path }) => path !== undefined && CODE_PATHS.has(path),
          handler: createAuthMiddleware(async (ctx) => {
            const personId = await personOf(ctx);
            const { code } = ctx.body as { code: string };
            // Nobody is signed in or signing in: the endpoint says so.
            if (personId === null) return;
            const seconds = await takeTry(pool, triesOf(personId), CODE_TRIES);
            if (seconds > 0) throw new TooManyTries(seconds);
            const isUsed = (await takeTry(pool, useOf(personId, code), ONE_USE)) > 0;
            if (isUsed && ctx.path === "/two-factor/verify-totp") throw new WrongProof();
          }),
        },
      ],
      after: [
        {
          matcher: ({ path }) => path !== undefined && CODE_PATHS.has(path),
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
