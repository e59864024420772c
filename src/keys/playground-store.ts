// The rows of the keys of playgrounds.

import type { Pool, PoolClient } from "pg";
import { type KeyRow, fromRowWorking } from "./store.ts";
import type { VerifiedKey } from "./verified-key.ts";

// $2: the member whose playground it is; null: that of the person whose account it is.
const PLAYGROUND_KEY = `
SELECT id, account_id, rate_limit, NULL AS allowed_models, NULL AS allowed_networks, NULL AS person_id FROM api_key
WHERE account_id = $1::uuid AND revoked_at IS NULL
  AND CASE WHEN $2::uuid IS NULL THEN is_playground ELSE is_member_playground AND person_id = $2 END`;
// Behind the lock of the account, so there is one.
const INSERT_MEMBER_PLAYGROUND = `
INSERT INTO api_key (account_id, id, digest, name, prefix, last_four, person_id, is_member_playground)
SELECT $1::uuid, $2::uuid, $3::bytea, 'Playground', '', '', $4::uuid, true
WHERE NOT EXISTS (SELECT FROM api_key k
                  WHERE k.account_id = $1 AND k.person_id = $4 AND k.is_member_playground AND k.revoked_at IS NULL)`;
// Two first calls at the same moment: the second finds the key of the first.
const INSERT_PLAYGROUND = `
INSERT INTO api_key (account_id, id, digest, name, prefix, last_four, person_id, is_playground)
VALUES ($1::uuid, $2::uuid, $3::bytea, 'Playground', '', '', $4::uuid, true)
ON CONFLICT (account_id) WHERE is_playground DO NOTHING`;
// The version before migration 0011 knew one person of an account, and wrote none.
const IS_NAMELESS = `
SELECT FROM api_key WHERE account_id = $1::uuid AND id = $2::uuid AND is_playground AND person_id IS NULL`;
const NAME_HOLDER = `
UPDATE api_key SET person_id = $3::uuid WHERE account_id = $1::uuid AND id = $2::uuid AND is_playground AND person_id IS NULL`;

/** The key of a member's playground; `personId` null: that of the person whose account it is. Null: it has not been made. */
export async function readPlaygroundKey(
  pool: Pool,
  { accountId, personId }: { accountId: string; personId: string | null },
): Promise<VerifiedKey | null> {
  const { rows } = await pool.query<KeyRow>(PLAYGROUND_KEY, [accountId, personId]);
  return fromRowWorking(rows[0]);
}

/** Writes it, unless it is there. */
export async function insertPlaygroundKey(
  client: PoolClient,
  { accountId, keyId, digest, personId }: { accountId: string; keyId: string; digest: Buffer; personId: string },
): Promise<void> {
  await client.query(INSERT_PLAYGROUND, [accountId, keyId, digest, personId]);
}

/** Writes the key of a member's playground, unless it is there. Behind the lock of the account. */
export async function insertMemberPlaygroundKey(
  client: PoolClient,
  { accountId, keyId, digest, personId }: { accountId: string; keyId: string; digest: Buffer; personId: string },
): Promise<void> {
  await client.query(INSERT_MEMBER_PLAYGROUND, [accountId, keyId, digest, personId]);
}

/** Whether the key of the playground of the person whose account it is names no person, as a version of before wrote it. */
export async function isPlaygroundKeyNameless(
  pool: Pool,
  { accountId, keyId }: { accountId: string; keyId: string },
): Promise<boolean> {
  return (await pool.query(IS_NAMELESS, [accountId, keyId])).rowCount === 1;
}

/** Names the person whose account it is as the maker of a key without one. Behind the lock of the account. False: it has one. */
export async function nameHolder(
  client: PoolClient,
  { accountId, keyId, personId }: { accountId: string; keyId: string; personId: string },
): Promise<boolean> {
  return (await client.query(NAME_HOLDER, [accountId, keyId, personId])).rowCount === 1;
}
