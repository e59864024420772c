// Many accounts and keys in two statements: a thousand calls of the operator's commands would take minutes.

import type { Pool } from "pg";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { digestSecretToken, newSecretToken } from "../../src/kernel/secret-token.ts";
import { systemAccounts } from "../../src/ledger/system-accounts.ts";

const OPEN_EMPTY = "INSERT INTO account (id) SELECT unnest($1::uuid[])";
// The balance of an account, the posting that funds it, and the line of the operators' log with it, so that the audit finds nothing.
const FUND_ACCOUNTS = `
WITH new AS (SELECT * FROM unnest($1::uuid[], $2::uuid[]) AS t (id, posting_id)),
     opened AS (UPDATE account a SET posted = $3::bigint FROM new WHERE a.id = new.id),
     posted AS (
       INSERT INTO posting (account_id, id, group_id, asset, debit, credit, amount, reason)
       SELECT id, posting_id, posting_id, 'IDR/6', $4::uuid, id, $3::bigint, 'operator_credit' FROM new)
INSERT INTO operator_action (id, operator, action, subject, facts)
SELECT posting_id, 'bench', 'account credit', id::text,
  jsonb_build_object('postingId', posting_id, 'amount', ($3::bigint / 1000000)::text) FROM new`;

const ISSUE_KEYS = `
INSERT INTO api_key (account_id, id, digest, name, prefix, last_four, rate_limit)
SELECT account_id, id, digest, 'bench', prefix, last_four, 0
FROM unnest($1::uuid[], $2::uuid[], $3::bytea[], $4::text[], $5::text[]) AS t (account_id, id, digest, prefix, last_four)`;

const NAME_MAKERS = `
UPDATE api_key k SET person_id = m.person_id
FROM (SELECT account_id, gen_random_uuid() AS person_id FROM api_key WHERE digest = ANY ($1::bytea[]) GROUP BY account_id) m
WHERE k.account_id = m.account_id AND k.digest = ANY ($1::bytea[])`;
const LIMIT_KEYS = `SELECT set_key_budget(account_id, id, $2::bigint, 'month') FROM api_key WHERE digest = ANY ($1::bytea[])`;
const LIMIT_MAKERS = `
SELECT set_member_budget(account_id, person_id, $2::bigint, 'month')
FROM (SELECT DISTINCT account_id, person_id FROM api_key WHERE digest = ANY ($1::bytea[])) maker`;
const SPENT = `
SELECT coalesce(sum(budget_spent), 0)::bigint AS keys, coalesce(sum(budget_held), 0)::bigint AS held,
       (SELECT coalesce(sum(budget_spent), 0) FROM member_budget)::bigint AS members,
       (SELECT coalesce(sum(budget_held), 0) FROM member_budget)::bigint AS "heldOfMembers"
FROM api_key WHERE budget IS NOT NULL`;

// How much of a key is kept for showing.
const PREFIX_LENGTH = 7;
const LAST_LENGTH = 4;

/** New keys, which no gateway has yet. */
export function newKeys(count: number): string[] {
  return Array.from({ length: count }, () => newSecretToken("gw_"));
}

/**
 * Issues keys without a rate limit, dealt out over accounts: those given, or `accounts` new ones with `credit` each. Returns what was
 * credited, in micro-rupiah.
 */
export async function seedKeys(
  pool: Pool,
  options: {
    readonly accountIds: readonly string[] | null;
    readonly accounts: number;
    readonly secrets: readonly string[];
    readonly credit: bigint;
  },
): Promise<bigint> {
  const accountIds = options.accountIds ?? Array.from({ length: options.accounts }, () => uuidv7());
  if (options.accountIds === null) {
    const postingIds = accountIds.map(() => uuidv7());
    await pool.query(OPEN_EMPTY, [accountIds]);
    await pool.query(FUND_ACCOUNTS, [accountIds, postingIds, options.credit, systemAccounts.operatorAdjustments]);
  }
  const keys = options.secrets;
  await pool.query(ISSUE_KEYS, [
    keys.map((_, index) => accountIds[index % accountIds.length]),
    keys.map(() => uuidv7()),
    keys.map((key) => digestSecretToken(key)),
    keys.map((key) => key.slice(0, PREFIX_LENGTH)),
    keys.map((key) => key.slice(-LAST_LENGTH)),
  ]);
  return options.accountIds === null ? options.credit * BigInt(accountIds.length) : 0n;
}

/** Gives each of these keys a budget of a month. */
export async function giveKeyBudgets(pool: Pool, keys: readonly string[], amount: bigint): Promise<void> {
  await pool.query(LIMIT_KEYS, [keys.map((key) => digestSecretToken(key)), amount]);
}

/** Gives the account of each of these keys a member who made them, and this member a budget of a month. */
export async function giveMemberBudgets(pool: Pool, keys: readonly string[], amount: bigint): Promise<void> {
  const digests = keys.map((key) => digestSecretToken(key));
  await pool.query(NAME_MAKERS, [digests]);
  await pool.query(LIMIT_MAKERS, [digests, amount]);
}

/** What the budgets of keys and of members have counted, in micro-rupiah, and what they still hold. */
export async function readSpent(
  pool: Pool,
): Promise<{ keys: bigint; members: bigint; held: bigint; heldOfMembers: bigint }> {
  const { rows } = await pool.query<{ keys: bigint; members: bigint; held: bigint; heldOfMembers: bigint }>(SPENT);
  if (rows[0] === undefined) throw new Error("a sum has a row");
  return rows[0];
}
