// SQL of automatic top-ups. What decides about money is read behind the lock of the account.

import type { Pool, PoolClient } from "pg";
import { uuidv7 } from "../../kernel/ids.ts";

type Queryable = Pick<Pool | PoolClient, "query">;

const ACCOUNTS_PER_PAGE = 200;
/** The states of orders that a provider has ended without a payment. All others are open or were paid. */
const ENDED = "('expired', 'failed', 'canceled')";
const OPEN = "('created', 'pending', 'review')";

const SETTINGS = `
SELECT is_on AS "isOn", threshold, amount, monthly_cap AS "monthlyCap", paused_at AS "pausedAt" FROM auto_top_up WHERE account_id = $1::uuid`;
// A change resumes what was paused: refusals before it do not count any more.
const WRITE = `
INSERT INTO auto_top_up (account_id, is_on, threshold, amount, monthly_cap) VALUES ($1::uuid, $2::boolean, $3::bigint, $4::bigint, $5::bigint)
ON CONFLICT (account_id) DO UPDATE SET is_on = $2::boolean, threshold = $3::bigint, amount = $4::bigint, monthly_cap = $5::bigint,
  paused_at = NULL, resumed_at = clock_timestamp(), updated_at = clock_timestamp()`;
const PAUSE = `UPDATE auto_top_up SET paused_at = clock_timestamp() WHERE account_id = $1::uuid`;

// An operator who stops admission, as after a restore, stops charging as well: the orders of the lost time may be missing.
const RUNS = "NOT EXISTS (SELECT FROM admission_switch WHERE stopped_at IS NOT NULL)";

// $1 the account to begin behind, $2 the providers that charge. What is held comes back in a moment, so it counts as there.
const LOW = `
SELECT s.account_id AS "accountId"
FROM auto_top_up s JOIN account a ON a.id = s.account_id
WHERE s.account_id > $1::uuid AND s.is_on AND s.paused_at IS NULL AND a.frozen_at IS NULL
  AND greatest(0, a.posted - a.owed) < s.threshold AND ${RUNS}
  AND EXISTS (SELECT FROM payment_method m WHERE m.account_id = s.account_id AND m.removed_at IS NULL AND m.provider = ANY ($2))
  AND NOT EXISTS (SELECT FROM top_up t WHERE t.account_id = s.account_id AND t.method_id IS NOT NULL AND t.state IN ${OPEN})
ORDER BY s.account_id LIMIT ${ACCOUNTS_PER_PAGE}`;

const PLAN = `
SELECT s.threshold, s.amount, s.monthly_cap AS "monthlyCap", s.resumed_at AS "resumedAt", m.id AS "methodId", m.provider
FROM auto_top_up s JOIN account a ON a.id = s.account_id JOIN payment_method m ON m.account_id = s.account_id AND m.removed_at IS NULL
WHERE s.account_id = $1::uuid AND s.is_on AND s.paused_at IS NULL AND a.frozen_at IS NULL AND ${RUNS}`;
// $2 since when refusals count, and payments that were given back: of automatic orders, and of one that has saved a method. The cap counts what is charged, tax included, from the creation of the order.
const HISTORY = `
WITH automatic AS MATERIALIZED (
  SELECT state, amount + coalesce(tax, 0) AS paid, created_at, changed_at, state IN ${ENDED} AS is_ended
  FROM top_up WHERE account_id = $1::uuid AND method_id IS NOT NULL
), refused AS (
  SELECT changed_at FROM automatic
  WHERE is_ended AND created_at > $2::timestamptz
    AND created_at > coalesce((SELECT max(created_at) FROM automatic WHERE NOT is_ended), '-infinity')
)
SELECT
  (SELECT count(*)::int FROM automatic WHERE state IN ${OPEN}) AS open,
  (SELECT coalesce(sum(paid), 0)::bigint FROM automatic
   WHERE NOT is_ended AND created_at >= date_trunc('month', clock_timestamp(), 'Asia/Jakarta')) AS charged,
  (SELECT count(*)::int FROM refused) AS refusals,
  EXISTS (SELECT FROM top_up WHERE account_id = $1::uuid AND (method_id IS NOT NULL OR saves_method)
    AND changed_at > $2::timestamptz AND (state IN ('partially_refunded', 'refunded', 'charged_back') OR dispute IS NOT NULL)) AS "wasGivenBack",
  (SELECT coalesce(bool_or(changed_at > clock_timestamp() - interval '1 hour'), false) FROM refused) AS "isWaiting",
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
// What became of automatic orders in the last days, each outcome once.
const NOTE_OUTCOMES = `
INSERT INTO auto_top_up_notice (id, account_id, kind, about, amount)
SELECT new_uuidv7(), t.account_id, o.kind, 'top-up:' || t.id || ':' || o.kind, t.amount + coalesce(t.tax, 0)
FROM (SELECT * FROM top_up WHERE changed_at > clock_timestamp() - interval '3 days' AND method_id IS NOT NULL) t
CROSS JOIN LATERAL (SELECT CASE WHEN t.paid_at IS NOT NULL THEN 'succeeded' WHEN t.state IN ${ENDED} THEN 'failed' END AS kind) o
WHERE o.kind IS NOT NULL
  AND NOT EXISTS (SELECT FROM auto_top_up_notice n WHERE n.account_id = t.account_id AND n.about = 'top-up:' || t.id || ':' || o.kind)
ON CONFLICT (account_id, about) DO NOTHING`;

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

export async function pause(client: Queryable, accountId: string): Promise<void> {
  await client.query(PAUSE, [accountId]);
}

/** A page of the accounts that are low, behind one. The last page is empty. */
export async function selectLowAccounts(
  client: Queryable,
  { after, providers }: { after: string; providers: readonly string[] },
): Promise<string[]> {
  const { rows } = await client.query<{ accountId: string }>(LOW, [after, providers]);
  return rows.map(({ accountId }) => accountId);
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
  /** How many in a row ended without a payment. */
  readonly refusals: number;
  /** Whether a payment was given back: by us, by the provider or by the payer's bank. */
  readonly wasGivenBack: boolean;
  /** Whether the last refusal is too recent for another try. */
  readonly isWaiting: boolean;
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

/** What a mail is about. */
export type NoticeKind = "succeeded" | "failed" | "paused" | "capped";

/** Owes an account a mail, once for what it is about. */
export async function addNotice(
  client: Queryable,
  notice: { accountId: string; kind: NoticeKind; about: string; amount: bigint },
): Promise<void> {
  await client.query(ADD_NOTICE, [uuidv7(), notice.accountId, notice.kind, notice.about, notice.amount]);
}

/** Owes the mails of what became of orders. */
export async function noteOutcomes(client: Queryable): Promise<void> {
  await client.query(NOTE_OUTCOMES);
}
