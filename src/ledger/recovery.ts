// Recovery: resolves the holds of dead processes with their recorded progress, and releases our holds that our memory does not
// know. A hold is deleted only once, so a recovery and a late settlement exclude each other.

import type { Pool } from "pg";
import { sqlState, sqlStates } from "../database/transactions.ts";
import { BEFORE_ALL_IDS } from "../kernel/ids.ts";
import { systemAccounts } from "./system-accounts.ts";

/** How many holds one statement resolves at most. */
const CHUNK = 256;
/** The classes of states in which the database refuses a row: a value out of range, or a constraint such as that of an id's time. */
const ROW_REFUSED = /^2[23]/;
/** A held lock, a deadlock, a serialization failure: nothing was written, and the next round may succeed. */
const MAY_PASS: ReadonlySet<string> = new Set([
  sqlStates.lockTimeout,
  sqlStates.deadlock,
  sqlStates.serializationFailure,
]);

// A process registers before its first hold, so a process without a row is dead, and its row was deleted; or a failover has lost the row,
// and then the process registers again within its term, and settles what it has. So such holds wait until a term has passed.
const IS_DEAD = (withoutRow: string): string => `
NOT EXISTS (SELECT FROM process p WHERE p.id = h.owner AND p.dead_at IS NULL)
  AND (${withoutRow}::boolean OR EXISTS (SELECT FROM process p WHERE p.id = h.owner))`;

// Pages by key, so that holds that cannot be resolved now do not hide later ones.
const HOLDS_OF_THE_DEAD = `
SELECT h.account_id, h.id FROM hold h
WHERE ${IS_DEAD("$3")} AND (h.account_id, h.id) > ($1::uuid, $2::uuid) ORDER BY 1, 2 LIMIT ${CHUNK}`;

const HOLDS_OF_OURS = `
SELECT h.account_id, h.id FROM hold h
WHERE h.owner = $3::uuid AND h.placed_at < clock_timestamp() - interval '60 s'
  AND (h.account_id, h.id) > ($1::uuid, $2::uuid) ORDER BY 1, 2 LIMIT ${CHUNK}`;

const HELD_COLUMNS = "key_id, model, input_price, output_price, cache_hit_price, other_prices";

// The compare-and-set: the owner must be dead in this statement's snapshot, and only deleted holds are charged. The cost is that
// of the recorded progress; the charge never exceeds the hold.
const RECOVER = `
WITH acc AS MATERIALIZED (
  SELECT a.id, a.posted, a.held, a.open_holds FROM lock_accounts($1::uuid[]) a
), del AS (
  DELETE FROM hold h USING acc a, unnest($1::uuid[], $2::uuid[]) AS r(account_id, id)
  WHERE r.account_id = a.id AND h.account_id = a.id AND h.id = r.id
    AND h.account_id = ANY ($1::uuid[]) AND h.id = ANY ($2::uuid[])
    AND ${IS_DEAD("$3")}
  RETURNING h.*, usage_cost(h.progress_input_tokens, h.progress_cached_tokens, h.progress_output_tokens, NULL, h.input_price,
                            h.output_price, h.cache_hit_price, h.other_prices)::bigint AS cost
), ins AS (
  INSERT INTO usage_record (account_id, request_id, cost, charge, ${HELD_COLUMNS}, input_tokens_uncached,
    input_tokens_cached, output_tokens, basis, billing_day, streamed, duration_ms)
  SELECT account_id, id, cost, least(cost, amount), ${HELD_COLUMNS}, progress_input_tokens, progress_cached_tokens, progress_output_tokens,
    'recovered', (uuid_time(id) AT TIME ZONE 'Asia/Jakarta')::date, false, 0
  FROM del
  ON CONFLICT (account_id, request_id) DO NOTHING RETURNING account_id, request_id, cost, charge
), upd AS (
  UPDATE account a SET held = l.held - s.held, posted = l.posted - s.charge, open_holds = l.open_holds - s.holds
  FROM acc l JOIN (
    SELECT d.account_id, sum(d.amount)::bigint AS held, count(*)::int AS holds, coalesce(sum(i.charge), 0)::bigint AS charge
    FROM del d LEFT JOIN ins i ON i.account_id = d.account_id AND i.request_id = d.id GROUP BY d.account_id
  ) s ON s.account_id = l.id
  WHERE a.id = l.id AND a.id = ANY ($1::uuid[])
), member_spent AS (
  SELECT charge_member_budget(d.account_id, d.member_id, d.amount, coalesce(i.charge, 0))
  FROM del d LEFT JOIN ins i ON i.account_id = d.account_id AND i.request_id = d.id WHERE d.member_id IS NOT NULL
), spent AS (
  SELECT charge_budget(d.account_id, d.key_id, d.amount, coalesce(i.charge, 0))
  FROM del d LEFT JOIN ins i ON i.account_id = d.account_id AND i.request_id = d.id WHERE d.in_budget
), counted AS (
  SELECT count_tokens(d.account_id, d.key_id, d.tokens,
                      all_tokens(d.progress_input_tokens, d.progress_cached_tokens, d.progress_output_tokens, NULL))
  FROM del d WHERE d.tokens > 0
), loss AS (
  INSERT INTO posting (account_id, id, group_id, asset, debit, credit, amount, reason)
  SELECT account_id, request_id, request_id, 'IDR/6', '${systemAccounts.operatorLoss}', '${systemAccounts.revenue}', cost - charge, 'uncollected'
  FROM ins WHERE cost > charge
)
SELECT account_id, id, (SELECT count(*) FROM member_spent), (SELECT count(*) FROM spent), (SELECT count(*) FROM counted) FROM del`;

// Each start of a process leaves a row. One day is enough for looking into a dead process.
const FORGET = `
DELETE FROM process p WHERE p.dead_at < clock_timestamp() - interval '1 day'
  AND NOT EXISTS (SELECT FROM hold h WHERE h.owner = p.id)`;

type Recovering = {
  readonly pool: Pool;
  readonly withoutRow: boolean;
  readonly locked: Set<string>;
  readonly onRefused: (hold: HoldName, error: unknown) => void;
};

export type HoldName = { readonly accountId: string; readonly requestId: string };

export type RecoveryOptions = {
  /** Also the holds of processes that the books do not know. Default: true. */
  readonly withoutRow?: boolean;
  /** Called with each hold whose record the database refuses. */
  readonly onRefused?: (hold: HoldName, error: unknown) => void;
};

/**
 * Resolves the holds of dead processes. Returns their number. Holds of locked accounts, and those whose record the database refuses, are
 * left to the next round: an id is refused while the database's clock is more than a day behind it.
 */
export async function recoverHolds(
  pool: Pool,
  { withoutRow = true, onRefused = () => {} }: RecoveryOptions = {},
): Promise<number> {
  let recovered = 0;
  // An account that was locked once is skipped for the rest of the round: each try waits for the lock.
  const locked = new Set<string>();
  const work = { pool, withoutRow, locked, onRefused };
  for await (const page of holdPages(pool, HOLDS_OF_THE_DEAD, [withoutRow])) recovered += await recoverPage(work, page);
  return recovered;
}

/** All at once; account by account where one would block the others; in halves where the database refuses a record among them. */
async function recoverPage(work: Recovering, page: readonly HoldName[]): Promise<number> {
  const { pool, withoutRow, locked, onRefused } = work;
  const holds = page.filter(({ accountId }) => !locked.has(accountId));
  const [first] = holds;
  if (first === undefined) return 0;
  try {
    const names = [holds.map(({ accountId }) => accountId), holds.map(({ requestId }) => requestId)];
    return (await pool.query(RECOVER, [...names, withoutRow])).rowCount ?? 0;
  } catch (error) {
    const state = sqlState(error) ?? "";
    if (ROW_REFUSED.test(state)) {
      const middle = Math.ceil(holds.length / 2);
      if (holds.length > 1) return recoverParts(work, [holds.slice(0, middle), holds.slice(middle)]);
      onRefused(first, error);
      return 0;
    }
    if (!MAY_PASS.has(state)) throw error;
    const ofAccounts = [...Map.groupBy(holds, ({ accountId }) => accountId).values()];
    if (ofAccounts.length > 1) return recoverParts(work, ofAccounts);
    locked.add(first.accountId);
    return 0;
  }
}

async function recoverParts(work: Recovering, parts: readonly (readonly HoldName[])[]): Promise<number> {
  let recovered = 0;
  for (const part of parts) recovered += await recoverPage(work, part);
  return recovered;
}

/** Deletes the rows of processes that have been dead for a day and have no hold. Returns their number. */
export async function forgetLongDead(pool: Pool): Promise<number> {
  return (await pool.query(FORGET)).rowCount ?? 0;
}

/**
 * Holds of a living process that are older than a minute. A hold that its memory does not know was placed by a lost statement.
 */
export async function listOldHolds(pool: Pool, owner: string): Promise<HoldName[]> {
  const holds: HoldName[] = [];
  for await (const page of holdPages(pool, HOLDS_OF_OURS, [owner])) holds.push(...page);
  return holds;
}

async function* holdPages(
  pool: Pool,
  text: string,
  more: readonly (string | boolean)[] = [],
): AsyncGenerator<HoldName[]> {
  let after = { accountId: BEFORE_ALL_IDS, requestId: BEFORE_ALL_IDS };
  for (;;) {
    const { rows } = await pool.query<{ account_id: string; id: string }>(text, [
      after.accountId,
      after.requestId,
      ...more,
    ]);
    const page = rows.map((row) => ({ accountId: row.account_id, requestId: row.id }));
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    after = last;
  }
}
