// Finds postings for operators: by account, reason, reference, group and time, newest first. A billed request is a posting too,
// read from its usage record. It is found by its customer's account or its group only, because there are too many for any other
// search.

import type { Pool } from "pg";
import { uuidv7Floor } from "../kernel/ids.ts";
import { IDR } from "../kernel/money.ts";
import type { Posting } from "./postings.ts";
import { usageAtHand } from "./archived-usage.ts";
import { systemAccounts } from "./system-accounts.ts";

/** A posting of the books. */
export type FoundPosting = Required<Omit<Posting, "reference" | "note">> & {
  readonly reference: string | null;
  readonly note: string | null;
  readonly postedAt: Date;
};

/** A filter: every field that is set must match. Times are milliseconds of Unix time. */
export type PostingFilter = {
  readonly accountId?: string;
  readonly reason?: string;
  readonly reference?: string;
  readonly groupId?: string;
  readonly asset?: string;
  readonly fromMs?: number;
  readonly untilMs?: number;
};

/** At most so many postings of one group are read. */
export const MAX_GROUP = 500;

// A customer's account and a merchant's fund are found by their customer. Our own accounts have two indexes, one for each side.
// These cover no ids below this one, and losses by their debit only.
const BEHIND_OUR_ACCOUNTS = "00000000-0000-7000-8000-000000000100";
const LOSS = `debit = '${systemAccounts.operatorLoss}'`;
const COLUMNS = `id, account_id AS "accountId", group_id AS "groupId", asset, debit, credit, amount, reason, reference, note, posted_at AS "postedAt"`;
// A usage record as a posting: the charge of the request, from the customer to revenue.
const USAGE_COLUMNS = `
  request_id AS id, account_id AS "accountId", request_id AS "groupId", '${IDR}'::text AS asset, account_id AS debit, '${systemAccounts.revenue}'::uuid AS credit,
  charge::numeric(38,0) AS amount, 'usage'::text AS reason, NULL::text AS reference, NULL::text AS note,
  uuid_time(request_id) AS "postedAt"`;
const LAST_UUID = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/** The class of a ledger account: `customer_funds`, `merchant_funds`, or the name of one of our accounts. */
export type AccountClass = string;
export const CUSTOMER_FUNDS = "customer_funds";
export const MERCHANT_FUNDS = "merchant_funds";
/** A ledger account that no table knows. The audit reports its postings. */
export const UNKNOWN_ACCOUNT = "unknown";

/** The names of our own accounts, by their ids. */
export const systemClasses: ReadonlyMap<string, AccountClass> = new Map(
  Object.entries(systemAccounts).map(([name, id]) => [id, name.replaceAll(/[A-Z]/g, (c) => `_${c.toLowerCase()}`)]),
);

type Row = Omit<FoundPosting, "amount"> & { readonly amount: string };

/** Postings with ids before `beforeId`, newest first; null: from the newest on. */
export async function findPostings(
  pool: Pool,
  { filter, beforeId, limit }: { filter: PostingFilter; beforeId: string | null; limit: number },
): Promise<FoundPosting[]> {
  const { accountId, reason, reference, groupId, asset, fromMs = 0, untilMs } = filter;
  const until = untilMs === undefined ? LAST_UUID : uuidv7Floor(untilMs);
  const values: unknown[] = [uuidv7Floor(fromMs), beforeId !== null && beforeId < until ? beforeId : until, limit];
  const given = (value: string | undefined, condition: (parameter: string) => string): string =>
    value === undefined ? "" : ` AND ${condition(`$${values.push(value)}`)}`;
  // The statement contains only the conditions in use: a condition that can be switched off keeps the planner from the index.
  const more =
    given(reason, (p) => `reason = ${p}::text`) +
    given(groupId, (p) => `group_id = ${p}::uuid`) +
    given(asset, (p) => `asset = ${p}::text`);
  // Few postings have the same reference, so the reference decides, whatever the planner estimates of the other conditions.
  const from =
    reference === undefined
      ? "posting"
      : `(SELECT * FROM posting WHERE reference = $${values.push(reference)}::text OFFSET 0) posting`;
  const part = (condition: string): string =>
    `(SELECT ${COLUMNS} FROM ${from} WHERE ${condition}id >= $1::uuid AND id < $2::uuid${more} ORDER BY id DESC LIMIT $3::int)`;
  if (accountId === undefined) return run(pool, part(""), values);

  const account = `$${values.push(accountId)}::uuid`;
  const parts = (systemClasses.has(accountId) ? ofOurs(accountId, account) : ofCustomer(account)).map(part);
  const mayBeUsage =
    (reason ?? "usage") === "usage" && reference === undefined && (asset === undefined || asset === IDR);
  if (mayBeUsage) {
    const ofGroup = given(groupId, (p) => `request_id = ${p}::uuid`);
    parts.push(`(SELECT ${USAGE_COLUMNS} FROM usage_record WHERE account_id = ${account} AND charge > 0
      AND request_id >= $1::uuid AND request_id < $2::uuid${ofGroup} ORDER BY request_id DESC LIMIT $3::int)`);
  }
  return run(pool, `SELECT * FROM (${parts.join(" UNION ALL ")}) found ORDER BY id DESC LIMIT $3::int`, values);
}

/** The condition for postings of one of our accounts. */
function ofOurs(accountId: string, account: string): string[] {
  const onSide = (side: "debit" | "credit"): string =>
    `${side} = ${account} AND ${side} < '${BEHIND_OUR_ACCOUNTS}' AND `;
  const losses = accountId === systemAccounts.revenue ? [`${LOSS} AND credit = ${account} AND `] : [];
  return [onSide("debit"), `${onSide("credit")}NOT ${LOSS} AND `, ...losses];
}

/** The condition for postings of a customer's account, or of a fund of the customer's merchant. */
function ofCustomer(account: string): string[] {
  const owner = `coalesce(
    (SELECT f.account_id FROM merchant_fund f WHERE f.id = ${account}), ${account})`;
  return [`account_id = ${owner} AND (debit = ${account} OR credit = ${account}) AND `];
}

const GROUP = `
(SELECT ${COLUMNS} FROM posting WHERE group_id = $1::uuid ORDER BY id LIMIT ${MAX_GROUP})
UNION ALL
(SELECT ${USAGE_COLUMNS} FROM ${usageAtHand("account_id, request_id, charge")} u WHERE request_id = $1::uuid AND charge > 0)
ORDER BY id`;

/** All postings of one event, oldest first; for a request also the request itself. */
export function readGroup(pool: Pool, groupId: string): Promise<FoundPosting[]> {
  return run(pool, GROUP, [groupId]);
}

async function run(pool: Pool, text: string, values: readonly unknown[]): Promise<FoundPosting[]> {
  const { rows } = await pool.query<Row>(text, [...values]);
  return rows.map((row) => ({ ...row, amount: BigInt(row.amount) }));
}

const FUNDS = `
SELECT id, '${CUSTOMER_FUNDS}' AS class FROM account WHERE id = ANY ($1::uuid[])
UNION ALL
SELECT id, '${MERCHANT_FUNDS}' FROM merchant_fund WHERE id = ANY ($1::uuid[])`;

/** The classes of these accounts. */
export async function classifyAccounts(
  pool: Pool,
  accountIds: readonly string[],
): Promise<(accountId: string) => AccountClass> {
  const others = [...new Set(accountIds)].filter((id) => !systemClasses.has(id));
  const { rows } = await pool.query<{ id: string; class: AccountClass }>(FUNDS, [others]);
  const found = new Map(rows.map((row) => [row.id, row.class]));
  return (accountId) => systemClasses.get(accountId) ?? found.get(accountId) ?? UNKNOWN_ACCOUNT;
}
