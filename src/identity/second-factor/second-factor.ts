// Setting up, showing and removing a person's second factor, and what a proof of it changes. better-auth checks codes and
// passkeys; this file decides what a session may do, and renews or ends sessions.

import { randomBytes } from "node:crypto";
import type { Pool } from "pg";
import type { Database } from "../../database/database.ts";
import { withTransaction } from "../../database/transactions.ts";
import {
  FreshAuthenticationRequired,
  NotFound,
  NotSignedIn,
  SecondFactorRequired,
  TooManyTries,
  ValidationError,
  WrongProof,
} from "../../kernel/errors.ts";
import { isUuid } from "../../kernel/ids.ts";
import type { Language } from "../../kernel/preferred-language.ts";
import type { AuthRoute, OwnAnswer } from "../sign-in/auth-routes.ts";
import { CODE_TRIES, triesOf } from "./code-tries.ts";
import type { FactorSecrets } from "./factor-secrets.ts";
import type { Mail } from "../mailer.ts";
import { factorAddedMail, factorRemovedMail } from "../mails.ts";
import { verifyPassword } from "../passwords/passwords.ts";
import type { SessionRow } from "../people-store.ts";
import { countRecoveryCodes, hashRecoveryCodes, newRecoveryCodes } from "./recovery-codes.ts";
import {
  deletePasskey,
  endSessionSoon,
  endUnprovedSessions,
  isPasskeyOf,
  lockFactors,
  readFactor,
  readPasskeys,
  readPasswordHash,
  refreshHasFactor,
  unverifyApp,
  writeApp,
  writeRecoveryCodes,
} from "./second-factor-store.ts";
import { isFresh, noteProof } from "../session-proof.ts";
import { takeTry } from "../throttle.ts";

type Fields = Readonly<Record<string, unknown>>;
/** A session, and the language of its page. */
type OpenSession = SessionRow & { readonly language: Language };

export type SecondFactor = Readonly<Record<OwnAnswer, (session: OpenSession, fields: Fields) => Promise<object>>> & {
  /** Refuses what the session may not ask. Returns what to do once better-auth has accepted the proof. */
  before(route: AuthRoute, session: OpenSession | null, fields: Fields): Promise<() => Promise<void>>;
};

export type SecondFactorDependencies = {
  readonly database: Pick<Database, "pool">;
  readonly factorSecrets: FactorSecrets;
  readonly baseUrl: string;
  readonly send: (mail: Mail) => void;
};

const APP_NAME = "Saldo";
const APP_SECRET_LENGTH = 32;
const MOST_PASSKEYS = 20;
/** A set of recovery codes without one. */
const NO_CODES = "[]";

/** Builds it. */
export function createSecondFactor({ database, factorSecrets, baseUrl, send }: SecondFactorDependencies): SecondFactor {
  const { pool } = database;
  /** The stored secret of a person without an app. */
  const unusedSecret = (): Promise<string> => factorSecrets.encrypt(randomBytes(32).toString("hex"));

  /** Removes one factor. A person who must have one keeps the last. */
  async function remove(session: OpenSession, work: Parameters<typeof withTransaction<boolean>>[1]): Promise<object> {
    const { personId, proof, email, language } = session;
    await withTransaction(database, async (client) => {
      await lockFactors(client, personId);
      if (!(await work(client))) throw new NotFound();
      const hasFactor = await refreshHasFactor(client, personId);
      if (!hasFactor && proof.mustHaveFactor) throw new LastFactor();
      return hasFactor;
    });
    send(factorRemovedMail({ to: email, language }, baseUrl));
    return { status: true };
  }

  async function added({ personId, email, language }: OpenSession): Promise<void> {
    await refreshHasFactor(pool, personId);
    await endUnprovedSessions(pool, personId);
    send(factorAddedMail({ to: email, language }, baseUrl));
  }

  return {
    async state({ personId, proof, email }) {
      const [factor, passkeys] = await Promise.all([
        readFactor(pool, personId),
        readPasskeys(pool, personId, MOST_PASSKEYS),
      ]);
      const codes = factor === null ? NO_CODES : (await factorSecrets.renewed(pool, factor)).backupCodes;
      return {
        email,
        isRequired: proof.mustHaveFactor,
        isFresh: isFresh(proof),
        hasApp: factor?.isVerified ?? false,
        hasPassword: (await readPasswordHash(pool, personId)) !== null,
        recoveryCodesLeft: countRecoveryCodes(codes),
        passkeys: passkeys.map(({ passkeyId, ...each }) => ({ id: passkeyId, ...each })),
      };
    },

    async setUpApp({ personId, email }) {
      // 20 bytes would do; better-auth takes the text's own bytes as the key.
      const appSecret = randomBytes(APP_SECRET_LENGTH).toString("base64url").slice(0, APP_SECRET_LENGTH);
      const stored = { personId, secret: await factorSecrets.encrypt(appSecret), backupCodes: NO_CODES };
      if (!(await writeApp(pool, stored))) {
        throw new ValidationError([
          { field: "", rule: "second_factor.app", message: "An authenticator app is set up" },
        ]);
      }
      const shown = base32(Buffer.from(appSecret));
      const label = `${encodeURIComponent(APP_NAME)}:${encodeURIComponent(email)}`;
      return {
        secret: shown,
        uri: `otpauth://totp/${label}?secret=${shown}&issuer=${encodeURIComponent(APP_NAME)}&digits=6&period=30`,
      };
    },

    async makeRecoveryCodes({ personId, proof }) {
      if (!proof.hasFactor) throw new SecondFactorRequired();
      const codes = newRecoveryCodes();
      const [secret, backupCodes] = await Promise.all([unusedSecret(), hashRecoveryCodes(codes)]);
      await writeRecoveryCodes(pool, { personId, secret, backupCodes });
      return { codes };
    },

    async removeApp(session) {
      const unused = await unusedSecret();
      return remove(session, (client) => unverifyApp(client, session.personId, unused));
    },

    async removePasskey(session, { id }) {
      const passkeyId = String(id);
      if (!isUuid(passkeyId)) throw new NotFound();
      return remove(session, (client) => deletePasskey(client, passkeyId, session.personId));
    },

    async verifyPassword({ sessionId, personId, proof }, { password }) {
      // For a person with a second factor the password alone proves too little.
      if (proof.hasFactor) throw new FreshAuthenticationRequired();
      await takeCodeTry(pool, personId);
      const hash = await readPasswordHash(pool, personId);
      if (hash === null || !(await verifyPassword({ hash, password: String(password) }))) throw new WrongProof();
      await noteProof(pool, sessionId, "password");
      return { status: true };
    },

    async before(route, session, fields) {
      if (session === null) return async () => {};
      const { sessionId, personId, proof } = session;
      // The right password is a proof here, too, so it is guessed no more often than elsewhere.
      if (route.path === "/change-password") await takeCodeTry(pool, personId);
      if (route.passkey === "authentication") {
        const { id } = fields["response"] as { id: string };
        // Another person's passkey would change the person behind the page that asks.
        if (!(await isPasskeyOf(pool, id, personId))) throw new WrongProof();
        return () => endSessionSoon(pool, sessionId);
      }
      if (route.proves !== "factor") return async () => {};
      const isCode = route.path === "/two-factor/verify-totp";
      const isNew = isCode ? (await readFactor(pool, personId))?.isVerified === false : route.passkey !== undefined;
      if (isNew && !isFresh(proof)) throw new FreshAuthenticationRequired();
      return async () => {
        await noteProof(pool, sessionId, "factor");
        if (isNew) await added(session);
      };
    },
  };
}

/** The session that a route needs. Errors: NotSignedIn, FreshAuthenticationRequired. */
export function requireSession({ needs }: AuthRoute, session: SessionRow | null): void {
  if (needs === undefined) return;
  if (session === null) throw new NotSignedIn();
  const asksFresh = needs === "fresh" || (needs === "freshFactor" && session.proof.hasFactor);
  if (asksFresh && !isFresh(session.proof)) throw new FreshAuthenticationRequired();
}

async function takeCodeTry(pool: Pool, personId: string): Promise<void> {
  const seconds = await takeTry(pool, triesOf(personId), CODE_TRIES);
  if (seconds > 0) throw new TooManyTries(seconds);
}

/** Operators and owners of a production merchant add another factor before they remove the last one. */
class LastFactor extends SecondFactorRequired {
  constructor() {
    super("This account must keep a second factor. Add another one before you remove this one.");
  }
}

const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** Bytes as authenticator apps take them, without padding. */
function base32(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, "0")).join("");
  return (bits.match(/.{1,5}/g) ?? []).map((five) => BASE32[Number.parseInt(five.padEnd(5, "0"), 2)]).join("");
}
