// What must be true before a month is taken away, and which of its records stay at hand.

import type { ClientBase } from "pg";
import { LimitExceeded } from "../../kernel/errors.ts";
import { BEFORE_ALL_IDS } from "../../kernel/ids.ts";
import { rollUpDifferences } from "../usage/audit-roll-ups.ts";
import { dateOf, lookBy } from "./archive-store.ts";
import type { Month } from "./month.ts";
import { RECORD_COLUMNS } from "./record-row.ts";
import { foldRollUps } from "./roll-up-digest.ts";
import type { Seal } from "./signed-text.ts";

const COLUMNS = RECORD_COLUMNS.map(({ name }) => name).join(", ");

const OPEN_HOLD = `SELECT FROM hold WHERE id < $1::uuid LIMIT 1`;
const STRAY = `SELECT FROM usage_record_default WHERE request_id < $1::uuid LIMIT 1`;
const comesTo = (table: string): string =>
  `SELECT count(*)::text AS rows, coalesce(sum(cost), 0)::text AS cost, coalesce(sum(charge), 0)::text AS charge FROM ${table}`;

// $1 the month, $2 and $3 its quarters. Roll-ups are what is shown of the month from now on.
export const NOT_ROLLED_UP = `
SELECT coalesce(a.account_id, r.account_id) AS id
FROM (SELECT * FROM usage_archive_account WHERE month = $1::date) a
FULL JOIN (
  SELECT account_id, sum(requests) AS requests, sum(input_tokens_uncached) AS uncached, sum(input_tokens_cached) AS cached,
    sum(output_tokens) AS output, sum(cost) AS cost, sum(charge) AS charge
  FROM usage_roll_up WHERE quarter >= $2::int AND quarter < $3::int GROUP BY account_id
) r ON r.account_id = a.account_id
LEFT JOIN usage_rolled_up m ON m.account_id = a.account_id
WHERE (a.requests, a.input_tokens_uncached, a.input_tokens_cached, a.output_tokens, a.cost, a.charge)
  IS DISTINCT FROM (r.requests, r.uncached, r.cached, r.output, r.cost, r.charge) OR coalesce(m.before_quarter, 0) < $3::int
LIMIT 1`;

/** Refuses a month in which a settlement may still arrive. Errors: LimitExceeded. */
export async function requireOver(client: ClientBase, month: Month): Promise<void> {
  if ((await client.query(OPEN_HOLD, [month.untilId])).rowCount !== 0)
    throw new LimitExceeded(`A request of ${month.name} or before is still open: its settlement may come.`);
  if ((await client.query(STRAY, [month.untilId])).rowCount !== 0)
    throw new LimitExceeded(
      `Records of ${month.name} or before are in usage_record_default: run SELECT file_stray_usage() first.`,
    );
}

/** Refuses a month whose sums in the database are not those of its records. Errors: LimitExceeded. */
export async function requireRolledUp(client: ClientBase, month: Month): Promise<void> {
  const values = [dateOf(month), month.fromQuarter, month.untilQuarter];
  const { rows } = await client.query<{ id: string }>(NOT_ROLLED_UP, values);
  if (rows[0] === undefined) return;
  throw new LimitExceeded(
    `The sums of account ${rows[0].id} in ${month.name} are not those of its records. Let the workers run, or run ` +
      `saldo usage recount --account ${rows[0].id}.`,
  );
}

/**
 * Refuses a month whose roll-ups are not the sums of its records, of each model, key and quarter of an hour. The month is not in the archive.
 * Errors: LimitExceeded.
 */
export async function requireRightRollUps(client: ClientBase, month: Month, accounts: Iterable<string>): Promise<void> {
  for (const id of accounts) {
    const [first] = await rollUpDifferences(lookBy(client), id, month);
    if (first === undefined) continue;
    throw new LimitExceeded(
      `Roll-ups of account ${id} in ${month.name} are not those of its records (${first.detail}). Run saldo usage recount --account ${id}.`,
    );
  }
}

/** Refuses a month that is not as it was sealed, in the transaction that takes it away. Errors: LimitExceeded. */
export async function requireTakeable(client: ClientBase, month: Month, seal: Seal): Promise<void> {
  // No writer comes into the month from here on. Readers go on.
  await client.query(`SET LOCAL lock_timeout = '5s'; LOCK TABLE ${month.table} IN SHARE MODE`);
  await requireOver(client, month);
  await requireRolledUp(client, month);
  if (seal.rollUpsDigest !== null && (await foldRollUps(lookBy(client), month)) !== seal.rollUpsDigest)
    throw new LimitExceeded(`Roll-ups of ${month.name} are not those that were sealed. Run saldo usage recount.`);
  await requireAsSealed(client, month, { seal, orEmpty: false });
}

/**
 * Refuses to remove a table that has other records than were sealed: some came behind the seal, and no file has them. An empty one was made
 * again. Errors: LimitExceeded.
 */
export async function requireDroppable(client: ClientBase, month: Month, seal: Seal): Promise<void> {
  await client.query(`LOCK TABLE ${month.table} IN ACCESS EXCLUSIVE MODE`);
  await requireAsSealed(client, month, { seal, orEmpty: true });
}

async function requireAsSealed(
  client: ClientBase,
  month: Month,
  { seal, orEmpty }: { seal: Seal; orEmpty: boolean },
): Promise<void> {
  const { rows } = await client.query<Record<"rows" | "cost" | "charge", string>>(comesTo(month.table));
  const [found] = rows;
  if (orEmpty && found?.rows === "0") return;
  if (found?.rows !== String(seal.rows) || found.cost !== String(seal.cost) || found.charge !== String(seal.charge))
    throw new LimitExceeded(
      `${month.name} has ${found?.rows} records that charge ${found?.charge}; sealed were ${seal.rows} that charge ${seal.charge}.`,
    );
}

const SETTLED = "settled_time(u.request_id, u.settled_at)";
const inOtherMonth = (zone: string): string =>
  `date_trunc('month', ${SETTLED} AT TIME ZONE '${zone}') <> date_trunc('month', request_time(u.request_id) AT TIME ZONE '${zone}')`;

// $1 and $2: the ids of the month; $3 the first posting.
const keep = (table: string, others: string): string => `
INSERT INTO usage_kept (${COLUMNS})
SELECT ${COLUMNS} FROM ${table} u
WHERE (u.account_id, u.request_id) IN (
    SELECT account_id, group_id FROM posting WHERE group_id >= $1::uuid AND group_id < $2::uuid AND id >= $3::uuid)
  ${others}
ON CONFLICT DO NOTHING`;
const OTHERS = `OR u.basis = 'recovered' OR ${inOtherMonth("UTC")} OR ${inOtherMonth("Asia/Jakarta")}`;
// A run may be taken up long after the one that moved the mark. A day, because the clock that wrote a posting may be another machine's.
const SINCE_SEAL = `SELECT uuid_floor(sealed_at - interval '1 day') AS id FROM usage_archive WHERE month = $1::date`;

/**
 * Copies the records that stay at hand: those that postings name, those of recovery, which a late charge may name, and those that were settled in
 * another month than they came in. `recent`: only what postings since the seal name.
 */
export async function keepRecords(client: ClientBase, month: Month, which: "all" | "recent"): Promise<void> {
  const isAll = which === "all";
  const sealed = isAll ? undefined : (await client.query<{ id: string }>(SINCE_SEAL, [dateOf(month)])).rows[0];
  const values = [month.fromId, month.untilId, sealed?.id ?? BEFORE_ALL_IDS];
  await client.query(keep(month.table, isAll ? OTHERS : ""), values);
}
