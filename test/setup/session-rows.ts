// People, their sessions and their membership, written as rows: what sign-in and invitations make, without their mails.

import type { Pool } from "pg";
import type { AccountRole } from "../../src/identity/principal.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { digestSecretToken } from "../../src/kernel/secret-token.ts";

const COOKIE = "saldo_session";

/** A person with an own account and a session that has just proved everything. */
export type SignedIn = {
  readonly personId: string;
  readonly email: string;
  readonly ownAccountId: string;
  readonly sessionId: string;
  readonly cookie: string;
};

/** Makes a person with an own account and a session. */
export async function signInPerson(pool: Pool, email = `${uuidv7()}@test.example`): Promise<SignedIn> {
  const [personId, ownAccountId, sessionId, token] = [uuidv7(), uuidv7(), uuidv7(), uuidv7().replaceAll("-", "")];
  await pool.query("INSERT INTO account (id) VALUES ($1)", [ownAccountId]);
  await pool.query("INSERT INTO customer (account_id, email) VALUES ($1, $2)", [ownAccountId, email]);
  await pool.query(
    `INSERT INTO auth.person (id, email, email_verified, name, account_id, two_factor_enabled)
     VALUES ($1, $2, true, 'Somebody', $3, true)`,
    [personId, email, ownAccountId],
  );
  await pool.query(
    `INSERT INTO auth.session (id, token_digest, user_id, expires_at, created_at, updated_at, proved_at, factor_proved)
     VALUES ($1, $2, $3, now() + interval '1 hour', now(), now(), 'infinity', true)`,
    [sessionId, digestSecretToken(token), personId],
  );
  return { personId, email, ownAccountId, sessionId, cookie: `${COOKIE}=${token}.c2lnbmF0dXJl` };
}

/** Makes a person a member of an account, for which the session then acts. */
export async function joinAccount(
  pool: Pool,
  { personId, sessionId }: SignedIn,
  { accountId, role }: { accountId: string; role: AccountRole },
): Promise<void> {
  await pool.query(
    `INSERT INTO account_member (account_id, person_id, role) VALUES ($1, $2, $3)
     ON CONFLICT (account_id, person_id) DO UPDATE SET role = excluded.role`,
    [accountId, personId, role],
  );
  await pool.query("UPDATE auth.session SET acts_for = $2 WHERE id = $1", [sessionId, accountId]);
}
