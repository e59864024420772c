// The signed-in person, and the ledger account of that person. better-auth does the sign-in itself (sign-in/sign-in.ts); a call
// reads its session here, once.

import type { Pool, PoolClient } from "pg";
import { LRUCache } from "lru-cache";
import type { Database } from "../database/database.ts";
import { waitForLocks, withRetry, withTransaction } from "../database/transactions.ts";
import { isUuid } from "../kernel/ids.ts";
import { invariant } from "../kernel/invariant.ts";
import { digestSecretToken } from "../kernel/secret-token.ts";
import { createCustomer } from "./customers.ts";
import type { AccountRole, SessionProof } from "./principal.ts";
import {
  applySignUpLanguage,
  hasOwner,
  lockPerson,
  readAccountExists,
  readSession,
  type SessionRow,
  writeAccountOfPerson,
} from "./people-store.ts";
import { readCookie } from "./session-cookie.ts";
import type { ProofSettings } from "./session-proof.ts";
import { customerOfEmail } from "./store.ts";

/** A person with a living session. */
export type SignedInPerson = {
  readonly sessionId: string;
  readonly personId: string;
  readonly email: string;
  readonly isOperator: boolean;
  /** The person's own account. */
  readonly ownAccountId: string;
  /** The account that the session acts for, and the role there. Null: the person is not a member of it any more. */
  readonly accountId: string;
  readonly role: AccountRole | null;
  readonly proof: SessionProof;
};

/** Opens a ledger account in a transaction; the ledger's function, passed in. */
export type OpenAccount = (client: PoolClient, accountId: string) => Promise<void>;

export type PeopleDependencies = ProofSettings & {
  readonly database: Pick<Database, "pool">;
  readonly openAccount: OpenAccount;
  /** The name of the session cookie. */
  readonly cookieName: () => string;
  /** Called once an account has its person; lost when the process dies at that moment. What must not be lost belongs into `openAccount`. */
  readonly onAccountOpened?: (accountId: string) => Promise<void>;
};

export type People = {
  /** The person of a Cookie header's session. Null: it has none. */
  verifySession(cookies: string): Promise<SignedInPerson | null>;
  accountExists(accountId: string): Promise<boolean>;
  /** Whether a Cookie header names a session, valid or not. */
  namesSession(cookies: string): boolean;
  /** Whether the session of a Cookie header has worked in this process. It may have ended since. */
  hasWorked(cookies: string): boolean;
};

const MAX_TOKEN_LENGTH = 200;
const MAX_KNOWN_ACCOUNTS = 10_000;
const MAX_KNOWN_SESSIONS = 10_000;

/** Creates what authentication uses of this room. */
export function createPeople(dependencies: PeopleDependencies): People {
  const { database, openAccount, cookieName, isDemo, factorForAll = false, onAccountOpened } = dependencies;
  // Accounts are never removed, so an account that existed once exists.
  const known = new LRUCache<string, true>({ max: MAX_KNOWN_ACCOUNTS });
  const worked = new LRUCache<string, true>({ max: MAX_KNOWN_SESSIONS });
  // Behind the point is the signature that better-auth wants; 190 random bits need none.
  const tokenOf = (cookies: string): string => readCookie(cookies, cookieName())?.split(".", 1)[0] ?? "";
  const nameOf = (cookies: string): string => digestSecretToken(tokenOf(cookies)).toString("latin1");
  return {
    async verifySession(cookies) {
      const name = nameOf(cookies);
      const session = await sessionOfCookies(database.pool, {
        cookies,
        cookieName: cookieName(),
        isDemo,
        factorForAll,
      });
      if (session === null) {
        worked.delete(name);
        return null;
      }
      worked.set(name, true);
      const { ownAccountId, accountId } = session;
      if (ownAccountId !== null && accountId !== null) return { ...session, ownAccountId, accountId };
      const opened = await ensureAccount(database, { personId: session.personId, openAccount });
      await onAccountOpened?.(opened);
      return { ...session, ownAccountId: opened, accountId: accountId ?? opened };
    },

    namesSession: (cookies) => tokenOf(cookies) !== "",
    hasWorked: (cookies) => worked.has(nameOf(cookies)),

    async accountExists(accountId) {
      if (known.has(accountId)) return true;
      if (!isUuid(accountId) || !(await readAccountExists(database.pool, accountId))) return false;
      known.set(accountId, true);
      return true;
    },
  };
}

/** The session of a Cookie header. Null: it names none that has not ended. */
export async function sessionOfCookies(
  pool: Pool,
  { cookies, cookieName, ...proof }: { cookies: string; cookieName: string } & ProofSettings,
): Promise<SessionRow | null> {
  // Behind the point is the signature that better-auth wants; 190 random bits need none.
  const token = readCookie(cookies, cookieName)?.split(".", 1)[0] ?? "";
  if (token === "" || token.length > MAX_TOKEN_LENGTH) return null;
  return readSession(pool, { tokenDigest: digestSecretToken(token), ...proof });
}

/**
 * The account of a person with a verified address, created if there is none: exactly one, even when a process dies in between or many
 * calls ask. An account without a person, opened for the address by an operator before, becomes the person's.
 */
export function ensureAccount(
  database: Pick<Database, "pool">,
  { personId, openAccount }: { personId: string; openAccount: OpenAccount },
): Promise<string> {
  return withRetry(() =>
    withTransaction(database, async (client) => {
      await waitForLocks(client);
      const person = await lockPerson(client, personId);
      invariant(person !== null && person.emailVerified, "an account is for a person whose address is verified");
      if (person.accountId !== null) return person.accountId;
      const waiting = await customerOfEmail(client, person.email);
      invariant(waiting === null || !(await hasOwner(client, waiting)), "an address has one account and one person");
      const accountId = waiting ?? (await createCustomer(client, { email: person.email, openAccount })).accountId;
      await writeAccountOfPerson(client, { personId, accountId });
      await applySignUpLanguage(client, { personId, accountId });
      return accountId;
    }),
  );
}
