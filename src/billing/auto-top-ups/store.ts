// SQL of automatic top-ups. What decides about money is read behind the lock of the account.

import type { Pool, PoolClient } from "pg";
import type { Database } from "../../database/database.ts";
import { BY_KEY, type Look } from "../../database/throttled-reader.ts";
import { withTransaction } from "../../database/transactions.ts";
import { uuidv7 } from "../../kernel/ids.ts";
import type { TopUpState } from "../top-ups/top-up.ts";

type Queryable = Pick<Pool | PoolClient, "query">;

const ACCOUNTS_PER_PAGE = 200;
/** The states of orders that a provider has ended without a payment. All others are open or were paid. */
const ENDED = "('expired', 'failed', 'canceled')";
const OPEN = "('created', 'pending', 'review')";
// Of a top-up t that has ended. A refusal is the provider's answer to our call. What was called and never known there was not reached. An order
// that we ended before its call, or that no process called, is neither.
const REFUSED = `t.state IN ${ENDED} AND t.charge_called_at IS NOT NULL AND (t.state = 'failed' OR t.provider_reference IS NOT NULL)`;
const UNREACHED = "t.state = 'expired' AND t.charge_called_at IS NOT NULL AND t.provider_reference IS NULL";

const SETTINGS = `
SELECT is_on AS "isOn", threshold, amount, monthly_cap AS "monthlyCap", paused_at AS "pausedAt" FROM auto_top_up WHERE account_id = $1::uuid`;
// A change resumes what was paused: refusals before it do not count any more.
const WRITE = `
INSERT INTO auto_top_up (account_id, is_on, threshold, amount, monthly_cap) VALUES ($1::uuid, $2::boolean, $3::bigint, $4::bigint, $5::bigint)
ON CONFLICT (account_id) DO UPDATE SET is_on = $2::boolean, threshold = $3::bigint, amount = $4::bigint, monthly_cap = $5::bigint,
  paused_at = NULL, not_before = NULL, resumed_at = clock_timestamp(), updated_at = clock_timestamp()`;
const TURN_OFF = `UPDATE auto_top_up SET is_on = false, updated_at = clock_timestamp() WHERE account_id = $1::uuid`;
const PAUSE = `UPDATE auto_top_up SET paused_at = clock_timestamp() WHERE account_id = $1::uuid`;
// At most an hour, and no longer than the month of the cap: what an operator or an older process changes meanwhile is seen then.
const PUT_OFF = `
UPDATE auto_top_up SET not_before = least($2::timestamptz, hour.ahead, CASE WHEN hour.month > clock_timestamp() THEN hour.month END)
FROM (
  SELECT clock_timestamp() + interval '1 hour' AS ahead, date_trunc('month', clock_timestamp() + interval '1 hour', 'Asia/Jakarta') AS month
) hour WHERE account_id = $1::uuid`;

// An operator who stops admission, as after a restore, stops charging as well: the orders of the lost time may be missing.
const RUNS = "NOT EXISTS (SELECT FROM admission_switch WHERE stopped_at IS NOT NULL)";

// $1 the account to begin behind, $2 the provider that charges. What is held comes back in a moment, so it counts as there. A page is of all
// who want it, and each is followed by keys: no order is read of an account that is not low.
const LOW = `
WITH page AS MATERIALIZED (
  SELECT account_id, threshold, not_before FROM auto_top_up
  WHERE account_id > $1::uuid AND is_on AND paused_at IS NULL ORDER BY account_id LIMIT ${ACCOUNTS_PER_PAGE}
), low AS MATERIALIZED (
  SELECT p.account_id FROM page p JOIN account a ON a.id = p.account_id
  WHERE (p.not_before IS NULL OR p.not_before <= clock_timestamp()) AND a.frozen_at IS NULL AND greatest(0, a.posted - a.owed) < p.threshold
)
SELECT (SELECT max(account_id::text) FROM page) AS last, (SELECT count(*)::int FROM page) AS seen,
  coalesce((
    SELECT array_agg(l.account_id::text ORDER BY l.account_id)
    FROM low l JOIN payment_method m ON m.account_id = l.account_id AND m.removed_at IS NULL AND m.provider = $2
    WHERE ${RUNS}
      AND NOT EXISTS (SELECT FROM top_up t WHERE t.account_id = l.account_id AND t.method_id IS NOT NULL AND t.state IN ${OPEN})
  ), '{}') AS accounts`;

const PLAN = `
SELECT s.threshold, s.amount, s.monthly_cap AS "monthlyCap", s.resumed_at AS "resumedAt", m.id AS "methodId", m.provider
FROM auto_top_up s JOIN account a ON a.id = s.account_id JOIN payment_method m ON m.account_id = s.account_id AND m.removed_at IS NULL
WHERE s.account_id = $1::uuid AND s.is_on AND s.paused_at IS NULL AND a.frozen_at IS NULL AND ${RUNS}`;
// $2 since when refusals count, and payments that were given back: of automatic orders, and of one that has saved a method. The cap counts what is charged, tax included, from the creation of the order.
const HISTORY = `
WITH automatic AS MATERIALIZED (
  SELECT t.state, t.amount + coalesce(t.tax, 0) AS paid, t.created_at, t.changed_at, t.state IN ${ENDED} AS is_ended, ${REFUSED} AS is_refused,
    CASE WHEN t.state = 'canceled' AND t.provider_reference IS NULL THEN interval '1 minute' ELSE interval '1 hour' END AS pause
  FROM top_up t WHERE t.account_id = $1::uuid AND t.method_id IS NOT NULL
), ended AS (
  SELECT changed_at + pause AS wait_until, is_refused FROM automatic
  WHERE is_ended AND created_at > $2::timestamptz
    AND created_at > coalesce((SELECT max(created_at) FROM automatic WHERE NOT is_ended), '-infinity')
)
SELECT
  (SELECT count(*)::int FROM automatic WHERE state IN ${OPEN}) AS open,
  (SELECT coalesce(sum(paid), 0)::bigint FROM automatic
   WHERE NOT is_ended AND created_at >= date_trunc('month', clock_timestamp(), 'Asia/Jakarta')) AS charged,
  (SELECT count(*)::int FROM ended WHERE is_refused) AS refusals,
  EXISTS (SELECT FROM top_up WHERE account_id = $1::uuid AND (method_id IS NOT NULL OR saves_method)
    AND changed_at > $2::timestamptz AND (state IN ('partially_refunded', 'refunded', 'charged_back') OR dispute IS NOT NULL)) AS "wasGivenBack",
  (SELECT max(wait_until) FROM ended WHERE wait_until > clock_timestamp()) AS "waitUntil",
  to_char(clock_timestamp() AT TIME ZONE 'Asia/Jakarta', 'YYYY-MM') AS month`;

// The column is set once for ever: the process that sets it calls the provider, and no other does. Not where its owner or an operator has
// stopped it since it was ordered.
const CLAIM_CHARGE = `
UPDATE top_up t SET charge_called_at = clock_timestamp()
FROM payment_method m, auto_top_up s, account a
WHERE t.id = $1::uuid AND m.id = t.method_id AND m.removed_at IS NULL AND s.account_id = t.account_id AND s.is_on
  AND a.id = t.account_id AND a.frozen_at IS NULL AND ${RUNS}
  AND t.method_id IS NOT NULL AND t.charge_called_at IS NULL AND t.state = 'created' RETURNING t.id`;

const ADD_NOTICE = `
INSERT INTO auto_top_up_notice (id, account_id, kind, about, amount) VALUES ($1::uuid, $2::uuid, $3, $4, $5::bigint)
ON CONFLICT (account_id, about) DO NOTHING`;
// The outcomes of automatic orders, each once. A provider that cannot be reached is one mail a day, however many orders it takes.
const noteOutcomesOf = (which: string): string => `
INSERT INTO auto_top_up_notice (id, account_id, kind, about, amount)
SELECT new_uuidv7(), t.account_id, o.kind, o.about, t.amount + coalesce(t.tax, 0)
FROM top_up t
CROSS JOIN LATERAL (VALUES
  ('succeeded', t.paid_at IS NOT NULL, 'top-up:' || t.id || ':succeeded'),
  ('failed', ${REFUSED}, 'top-up:' || t.id || ':failed'),
  ('failed', ${UNREACHED}, 'unreached:' || to_char(t.changed_at AT TIME ZONE 'Asia/Jakarta', 'YYYY-MM-DD'))
) o (kind, is_owed, about)
WHERE ${which} AND t.method_id IS NOT NULL AND o.is_owed
ON CONFLICT (account_id, about) DO NOTHING`;
const NOTE_OUTCOME = noteOutcomesOf("t.id = $1::uuid");
// By the index on changed_at: no more is read than has changed.
const NOTE_MISSED = noteOutcomesOf("t.changed_at > clock_timestamp() - interval '2 hours'");
// The newest: one in review may be open beside it.
const OPEN_ORDER = `
SELECT id AS "topUpId", provider, state, amount + coalesce(tax, 0) AS paid, created_at AS "createdAt", charge_called_at AS "calledAt"
FROM top_up WHERE account_id = $1::uuid AND method_id IS NOT NULL AND state IN ${OPEN} ORDER BY id DESC LIMIT 1`;
const IS_UNCALLED = `SELECT FROM top_up WHERE id = $1::uuid AND charge_called_at IS NULL AND state = 'created'`;

/** What an account wants. Money is micro-rupiah. */
export type AutoTopUpSettings = {
  readonly isOn: boolean;
  /** Below this balance an order is charged. */
  readonly threshold: bigint;
  /** What is ordered, as a customer orders it. */
  readonly amount: bigint;
  /** The most that is charged in a month of Asia/Jakarta, tax included. */
  readonly monthlyCap: bigint;
};

export async function selectSettings(
  client: Queryable,
  accountId: string,
): Promise<(AutoTopUpSettings & { readonly pausedAt: Date | null }) | null> {
  type Row = AutoTopUpSettings & { pausedAt: Date | null };
  return (await client.query<Row>(SETTINGS, [accountId])).rows[0] ?? null;
}

export async function writeSettings(
  client: Queryable,
  accountId: string,
  { isOn, threshold, amount, monthlyCap }: AutoTopUpSettings,
): Promise<void> {
  await client.query(WRITE, [accountId, isOn, threshold, amount, monthlyCap]);
}

export async function turnOff(client: Queryable, accountId: string): Promise<void> {
  await client.query(TURN_OFF, [accountId]);
}

export async function pause(client: Queryable, accountId: string): Promise<void> {
  await client.query(PAUSE, [accountId]);
}

/** Looks at an account again at a time, and within an hour. Null: in an hour. The account is locked. */
export async function putOff(client: Queryable, accountId: string, until: Date | null): Promise<void> {
  await client.query(PUT_OFF, [accountId, until]);
}

/** The accounts with a method of a provider that are low, of a page of those that want it. `next`: where the page behind it begins. */
export async function selectLowAccounts(
  look: Look,
  { after, provider }: { after: string; provider: string },
): Promise<{ readonly accounts: readonly string[]; readonly next: string | null }> {
  type Row = { last: string | null; seen: number; accounts: string[] };
  const [page] = await look<Row>(LOW, [after, provider]);
  return { accounts: page?.accounts ?? [], next: page?.seen === ACCOUNTS_PER_PAGE ? page.last : null };
}

/** An automatic order that is open. */
export type OpenOrder = {
  readonly topUpId: string;
  readonly provider: string;
  readonly state: TopUpState;
  /** What is charged, tax included, in micro-rupiah. */
  readonly paid: bigint;
  readonly createdAt: Date;
  /** When the one call to the provider was taken. Null: it was not. */
  readonly calledAt: Date | null;
};

/** The open automatic order of an account. Null: none is open. */
export async function selectOpenOrder(client: Queryable, accountId: string): Promise<OpenOrder | null> {
  return (await client.query<OpenOrder>(OPEN_ORDER, [accountId])).rows[0] ?? null;
}

/** What is charged, of an account that wants it. */
export type Plan = Omit<AutoTopUpSettings, "isOn"> & {
  readonly resumedAt: Date;
  readonly methodId: string;
  readonly provider: string;
};

/** What a locked account wants. Every change of it locks the account. Null: nothing is charged. */
export async function readPlan(client: PoolClient, accountId: string): Promise<Plan | null> {
  return (await client.query<Plan>(PLAN, [accountId])).rows[0] ?? null;
}

/** The automatic orders of a locked account. */
export type History = {
  readonly open: number;
  /** Of this month: open orders, those whose outcome is not known, and paid ones. */
  readonly charged: bigint;
  /** How many in a row the provider refused. */
  readonly refusals: number;
  /** Whether a payment was given back: by us, by the provider or by the payer's bank. */
  readonly wasGivenBack: boolean;
  /** Until when no other try is made, as the last one ended without a payment. Null: one may be made. */
  readonly waitUntil: Date | null;
  /** Such as 2026-11. */
  readonly month: string;
};

export async function readHistory(client: PoolClient, accountId: string, since: Date): Promise<History> {
  const [history] = (await client.query<History>(HISTORY, [accountId, since])).rows;
  return history as History;
}

/** Takes the one call that may charge an order of a locked account. False: it was made, or the order may not be charged any more. */
export async function claimCharge(client: Queryable, topUpId: string): Promise<boolean> {
  return (await client.query(CLAIM_CHARGE, [topUpId])).rowCount === 1;
}

/** Whether no call was made for an order of a locked account, and it is still open. */
export async function isUncalled(client: Queryable, topUpId: string): Promise<boolean> {
  return (await client.query(IS_UNCALLED, [topUpId])).rowCount === 1;
}

/** What a mail is about. */
export type NoticeKind = "succeeded" | "failed" | "paused" | "capped";

/** Owes an account a mail, once for what it is about. */
export async function addNotice(
  client: Queryable,
  notice: { accountId: string; kind: NoticeKind; about: string; amount: bigint },
): Promise<void> {
  await client.query(ADD_NOTICE, [uuidv7(), notice.accountId, notice.kind, notice.about, notice.amount]);
}

/** Owes the mail of what has become of an automatic order, in the transaction that changes it. */
export async function noteOutcome(client: Queryable, topUpId: string): Promise<void> {
  await client.query(NOTE_OUTCOME, [topUpId]);
}

/** Owes the mails of outcomes of the last two hours that were written without one: by an older process, or when a provider is given up. */
export function noteMissedOutcomes(database: Pick<Database, "pool">): Promise<void> {
  return withTransaction(database, async (client) => {
    await client.query(BY_KEY);
    await client.query(NOTE_MISSED);
  });
}
