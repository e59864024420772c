import type { Pool, PoolClient } from "pg";
import { numberText } from "../receipts/receipt.ts";
import type { TopUp, TopUpState } from "./top-up.ts";

type Reader = Pick<Pool | PoolClient, "query">;

/** The columns of a top-up `t`, for fromRow. */
export const COLUMNS = `
t.id, t.account_id, t.amount, t.provider, t.state, t.provider_reference, t.payment_url, t.given_back, t.problem, t.dispute,
t.revision, t.created_at, t.expires_at, t.paid_at, t.changed_at,
coalesce(t.tax, 0) AS tax, coalesce(t.tax_rate, 0) AS tax_rate, coalesce(t.tax_included, false) AS tax_included,
coalesce(t.tax_given_back, 0) AS tax_given_back, t.method_id, coalesce(t.saves_method, false) AS saves_method, t.method_due_at,
(SELECT jsonb_build_object('receiptId', r.id, 'series', r.series, 'year', r.year, 'number', r.number)
 FROM receipt r WHERE r.top_up_id = t.id AND r.kind = 'receipt' AND r.given_back = 0 AND t.receipted_at IS NOT NULL) AS receipt,
(SELECT coalesce(sum(r.amount - r.collected), 0)::bigint FROM receivable r WHERE r.top_up_id = t.id AND r.collected < r.amount) AS owed`;

const OF_IDS = `SELECT ${COLUMNS} FROM top_up t WHERE t.id = ANY ($1::uuid[])`;
const OF_KEY = `SELECT ${COLUMNS} FROM top_up t WHERE t.account_id = $1::uuid AND t.idempotency_key = $2`;
const OF_ACCOUNT = `
SELECT ${COLUMNS} FROM top_up t
WHERE t.account_id = $1::uuid AND t.id < coalesce($2::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
ORDER BY t.id DESC LIMIT $3`;
const GIVEN_BACK = `SELECT id FROM top_up WHERE provider = $1 AND given_back > 0`;
const OPEN_ORDERS = `
SELECT count(*)::int AS open FROM (
  SELECT FROM top_up WHERE account_id = $1::uuid AND state IN ('created', 'pending') LIMIT $2
) counted`;
const INSERT = `
INSERT INTO top_up (id, account_id, idempotency_key, amount, provider, expires_at, next_check_at, tax, tax_rate, tax_included,
  method_id, saves_method)
VALUES ($1::uuid, $2::uuid, $3, $4::bigint, $5, $6::timestamptz, $7::timestamptz, $8::bigint, $9::int, $10::boolean,
  $11::uuid, $12::boolean)
ON CONFLICT (account_id, idempotency_key) DO NOTHING RETURNING id`;

// Two that open the same order at once would each be given a page, of which one provider lets only the last one work.
const CLAIM_OPENING = `
UPDATE top_up SET opening_until = clock_timestamp() + $2::float8 * interval '1 ms'
WHERE id = $1::uuid AND payment_url IS NULL AND method_id IS NULL AND state IN ('created', 'pending')
  AND (opening_until IS NULL OR opening_until < clock_timestamp())
RETURNING id`;
const END_OPENING = `UPDATE top_up SET opening_until = NULL WHERE id = $1::uuid`;
// A payment can be reported before the answer that opened it comes: then its state stays what it has become.
const OPENED = `
UPDATE top_up SET payment_url = $2, provider_reference = coalesce(provider_reference, $3), opening_until = NULL,
  state = CASE WHEN state = 'created' THEN 'pending' ELSE state END, revision = revision + 1, changed_at = clock_timestamp()
WHERE id = $1::uuid`;

const LOCK = `SELECT ${COLUMNS} FROM top_up t WHERE t.id = $1::uuid FOR NO KEY UPDATE OF t`;
const MOVE = `
UPDATE top_up SET state = $2, given_back = $3::bigint, problem = $4, provider_reference = coalesce($5, provider_reference), dispute = $7,
  tax_given_back = $8::bigint,
  method_due_at = CASE WHEN $9::boolean THEN clock_timestamp() WHEN $2 = 'paid' THEN method_due_at END,
  paid_at = CASE WHEN $6::boolean THEN coalesce(paid_at, clock_timestamp()) ELSE paid_at END,
  revision = revision + 1, changed_at = clock_timestamp()
WHERE id = $1::uuid`;

/** A claim ends by itself when its process has died. */
const CLAIM_DUE = `
UPDATE top_up t SET next_check_at = clock_timestamp() + interval '1 minute', failures = t.failures + 1
FROM (
  SELECT id FROM top_up WHERE next_check_at <= clock_timestamp() AND provider = ANY ($2)
  ORDER BY next_check_at LIMIT $1 FOR NO KEY UPDATE SKIP LOCKED
) due
WHERE t.id = due.id RETURNING t.id, t.failures, t.next_check_at::text AS claim`;
// A notification that came meanwhile has asked for another look, which must not be put off.
const RESCHEDULE = `
UPDATE top_up SET next_check_at = CASE WHEN next_check_at = $2::timestamptz THEN $3::timestamptz ELSE next_check_at END,
  failures = CASE WHEN $4::boolean THEN 0 ELSE failures END
WHERE id = $1::uuid`;

const OF_ORDER = `
SELECT id, provider, amount + coalesce(tax, 0) AS paid FROM top_up WHERE id = $1::uuid
UNION ALL
(SELECT id, provider, amount + coalesce(tax, 0) FROM top_up WHERE $1::uuid IS NULL AND provider = $2 AND provider_reference = $3 LIMIT 1)`;
const INSERT_EVENT = `
INSERT INTO payment_event (id, provider, event_key, order_id, top_up_id, status, amount, finding)
VALUES ($1::uuid, $2, $3, $4, $5::uuid, $6, $7, $8) ON CONFLICT (provider, event_key) DO NOTHING RETURNING id`;
const COUNT_EVENTS = `SELECT count(*)::int AS events FROM (SELECT FROM payment_event WHERE top_up_id = $1::uuid LIMIT $2) counted`;
const WAKE = `
UPDATE top_up SET next_check_at = least(next_check_at, clock_timestamp()), provider_reference = coalesce(provider_reference, $2)
WHERE id = $1::uuid`;

export type Row = {
  id: string;
  account_id: string;
  amount: bigint;
  provider: string;
  state: TopUpState;
  provider_reference: string | null;
  payment_url: string | null;
  given_back: bigint;
  tax: bigint;
  tax_rate: number;
  tax_included: boolean;
  tax_given_back: bigint;
  receipt: { receiptId: string; series: string; year: number; number: number } | null;
  owed: bigint;
  problem: string | null;
  method_id: string | null;
  saves_method: boolean;
  method_due_at: Date | null;
  dispute: TopUp["dispute"];
  revision: number;
  created_at: Date;
  expires_at: Date;
  paid_at: Date | null;
  changed_at: Date;
};

export async function selectTopUps(reader: Reader, topUpIds: readonly string[]): Promise<TopUp[]> {
  return (await reader.query<Row>(OF_IDS, [topUpIds])).rows.map(fromRow);
}

export async function selectTopUpOfKey(
  reader: Reader,
  { accountId, idempotencyKey }: { accountId: string; idempotencyKey: string },
): Promise<TopUp | null> {
  const { rows } = await reader.query<Row>(OF_KEY, [accountId, idempotencyKey]);
  return rows[0] === undefined ? null : fromRow(rows[0]);
}

/** An account's top-ups, newest first, from before an id. */
export async function selectTopUpsOfAccount(
  reader: Reader,
  { accountId, beforeId, limit }: { accountId: string; beforeId: string | null; limit: number },
): Promise<TopUp[]> {
  return (await reader.query<Row>(OF_ACCOUNT, [accountId, beforeId, limit])).rows.map(fromRow);
}

/** How many orders of an account wait to be paid, counted up to `most`. */
export async function countOpenOrders(reader: Reader, accountId: string, most: number): Promise<number> {
  return (await reader.query<{ open: number }>(OPEN_ORDERS, [accountId, most])).rows[0]?.open ?? 0;
}

/** Writes an order down. Without a rate there is no tax on it. False: the account has used the key before. */
export async function insertTopUp(
  reader: Reader,
  topUp: Pick<TopUp, "topUpId" | "accountId" | "amount" | "provider" | "expiresAt"> &
    Partial<Pick<TopUp, "tax" | "taxRate" | "isTaxIncluded" | "methodId" | "savesMethod">> & {
      readonly idempotencyKey: string;
      readonly nextCheckAt: Date;
    },
): Promise<boolean> {
  const { topUpId, accountId, idempotencyKey, amount, provider, expiresAt, nextCheckAt } = topUp;
  const taxes = [topUp.tax ?? 0n, topUp.taxRate ?? 0, topUp.isTaxIncluded ?? false];
  const method = [topUp.methodId ?? null, topUp.savesMethod ?? false];
  const values = [topUpId, accountId, idempotencyKey, amount, provider, expiresAt, nextCheckAt, ...taxes, ...method];
  return (await reader.query(INSERT, values)).rowCount === 1;
}

/** Takes the opening of an order's page for so long. False: there is a page, none is needed, or another call is opening it. */
export async function claimOpening(reader: Reader, topUpId: string, forMs: number): Promise<boolean> {
  return (await reader.query(CLAIM_OPENING, [topUpId, forMs])).rowCount === 1;
}

/** Lets go of the opening: the next one may try at once. */
export async function endOpening(reader: Reader, topUpId: string): Promise<void> {
  await reader.query(END_OPENING, [topUpId]);
}

export async function saveOpened(
  reader: Reader,
  { topUpId, paymentUrl, reference }: { topUpId: string; paymentUrl: string; reference: string | null },
): Promise<void> {
  await reader.query(OPENED, [topUpId, paymentUrl, reference]);
}

/** The top-ups of a provider of which something was given back. */
export async function selectGivenBack(reader: Reader, provider: string): Promise<string[]> {
  return (await reader.query<{ id: string }>(GIVEN_BACK, [provider])).rows.map(({ id }) => id);
}

/** Locks a top-up for the rest of the transaction, behind its account. */
export async function lockTopUp(client: PoolClient, topUpId: string): Promise<TopUp | null> {
  const { rows } = await client.query<Row>(LOCK, [topUpId]);
  return rows[0] === undefined ? null : fromRow(rows[0]);
}

/** Writes what has become of a locked top-up. */
export async function saveMoved(
  client: PoolClient,
  moved: Pick<
    TopUp,
    "topUpId" | "state" | "givenBack" | "taxGivenBack" | "problem" | "dispute" | "providerReference"
  > & {
    readonly isCredited: boolean;
    /** Whether the method that paid it is to be saved. */
    readonly isMethodDue: boolean;
  },
): Promise<void> {
  const { topUpId, state, givenBack, taxGivenBack, problem, dispute, providerReference, isCredited } = moved;
  const values = [topUpId, state, givenBack, problem, providerReference, isCredited, dispute, taxGivenBack];
  await client.query(MOVE, [...values, moved.isMethodDue]);
}

/** A top-up that is due to be asked about, and the claim on it. */
export type DueTopUp = {
  readonly topUpId: string;
  /** How often in a row the provider was asked and nothing was learnt, this time included. */
  readonly failures: number;
  readonly claim: string;
};

/** Takes top-ups whose provider is to be asked, of the named providers. Other processes skip them. */
export async function claimDue(
  reader: Reader,
  { providers, limit }: { providers: readonly string[]; limit: number },
): Promise<DueTopUp[]> {
  const { rows } = await reader.query<{ id: string; failures: number; claim: string }>(CLAIM_DUE, [limit, providers]);
  return rows.map(({ id, failures, claim }) => ({ topUpId: id, failures, claim }));
}

/** Stores when to ask again; null: never. A look that was requested since the claim is still made. */
export async function reschedule(
  reader: Reader,
  { topUpId, claim }: DueTopUp,
  { at, learnt }: { readonly at: Date | null; readonly learnt: boolean },
): Promise<void> {
  await reader.query(RESCHEDULE, [topUpId, claim, at, learnt]);
}

/** The order that a notification names, by its id or else by the provider's own name for it, and what is paid for it. */
export async function selectOrder(
  reader: Reader,
  named: { readonly topUpId: string | null; readonly provider: string; readonly reference: string | null },
): Promise<{ topUpId: string; provider: string; paid: bigint } | null> {
  const values = [named.topUpId, named.provider, named.reference];
  const { rows } = await reader.query<{ id: string; provider: string; paid: bigint }>(OF_ORDER, values);
  const [row] = rows;
  return row === undefined ? null : { topUpId: row.id, provider: row.provider, paid: row.paid };
}

/** What is kept of a notification. */
export type PaymentEvent = {
  readonly eventId: string;
  readonly provider: string;
  readonly eventKey: string;
  readonly orderId: string;
  readonly topUpId: string | null;
  readonly status: string;
  readonly amount: string;
  readonly finding: "as_ordered" | "unknown_order" | "other_provider" | "other_amount";
};

/** Keeps an event. False: it is known. */
export async function insertEvent(client: PoolClient, event: PaymentEvent): Promise<boolean> {
  const { eventId, provider, eventKey, orderId, topUpId, status, amount, finding } = event;
  const values = [eventId, provider, eventKey, orderId, topUpId, status, amount, finding];
  return (await client.query(INSERT_EVENT, values)).rowCount === 1;
}

/** How many events of a top-up are kept, counted up to `most`. */
export async function countEvents(reader: Reader, topUpId: string, most: number): Promise<number> {
  return (await reader.query<{ events: number }>(COUNT_EVENTS, [topUpId, most])).rows[0]?.events ?? 0;
}

/** Asks for a look at the provider now. A reference that is not known yet is kept: some answers are recognized by it. */
export async function wake(client: PoolClient, topUpId: string, reference: string | null): Promise<void> {
  await client.query(WAKE, [topUpId, reference]);
}

/** A top-up as the rules take it. */
export function fromRow(row: Row): TopUp {
  return {
    topUpId: row.id,
    accountId: row.account_id,
    amount: row.amount,
    provider: row.provider,
    state: row.state,
    providerReference: row.provider_reference,
    paymentUrl: row.payment_url,
    tax: row.tax,
    taxRate: row.tax_rate,
    isTaxIncluded: row.tax_included,
    givenBack: row.given_back,
    taxGivenBack: row.tax_given_back,
    receipt: row.receipt && { receiptId: row.receipt.receiptId, number: numberText(row.receipt) },
    owed: row.owed,
    problem: row.problem,
    dispute: row.dispute,
    methodId: row.method_id,
    savesMethod: row.saves_method,
    methodDueAt: row.method_due_at,
    revision: row.revision,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    paidAt: row.paid_at,
    changedAt: row.changed_at,
  };
}
