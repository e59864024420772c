// Top-ups as an operator goes through them: of all accounts, newest first, and their providers' notifications.

import type { Pool } from "pg";
import { readWithin } from "../../database/bounded-read.ts";
import { entitiesOn } from "../../database/orm.ts";
import { BY_KEY } from "../../database/throttled-reader.ts";
import { type ListOrder, MOST_SORTED, type OrderedPlace, requireSortable } from "../../kernel/list-order.ts";
import { uuidv7Floor } from "../../kernel/ids.ts";
import { PROVIDER_NAMES } from "../payments/payment-provider.ts";
import { COLUMNS, fromRow, type PaymentEvent, type Row } from "./store.ts";
import { type TopUp, TOP_UP_STATES, type TopUpState } from "./top-up.ts";

const UNKNOWN_MS = 7 * 24 * 3_600_000;
const IS_UNKNOWN = "top_up_id IS NULL AND finding = 'unknown_order'";
const UNKNOWN = `
SELECT id AS "eventId", provider, order_id AS "orderId", status, amount, received_at AS "receivedAt" FROM payment_event
WHERE ${IS_UNKNOWN} ORDER BY id DESC LIMIT $1`;
const COUNT_UNKNOWN = `
SELECT count(*)::int AS events FROM (SELECT FROM payment_event WHERE id >= $1::uuid AND ${IS_UNKNOWN} LIMIT 1000) counted`;

/** Which top-ups are meant; all that is not null must fit. */
export type TopUpFilter = {
  readonly accountId: string | null;
  readonly provider: string | null;
  readonly state: TopUpState | null;
  /** Whether only those are meant that need a look: in review, with a problem, disputed, or that left something owed. */
  readonly needsAttention: boolean;
};

/** An operator waits for a page; after this time the reading stops. */
const ANSWER_WITHIN_MS = 5_000;
const LAST_UUID = "ffffffff-ffff-ffff-ffff-ffffffffffff";

// Serving sessions plan a statement for all values, so a statement has only the conditions that are asked for: "$n IS NULL OR" finds nothing in
// an index. What fits may be rare; each part is therefore read from its end of an index, and no further than a page.
const NEWEST = "ORDER BY t.id DESC LIMIT $2::int";
const newestWhere = (isMeant: string): string => `SELECT t.* FROM top_up t WHERE t.id < $1::uuid${isMeant} ${NEWEST}`;
/** State by state and provider by provider, because an index has the newest of several only when each is asked for. */
const newestOfStates = (providers: string, states: string): string => `
SELECT t.* FROM unnest(${providers}::text[]) AS of_provider(name) CROSS JOIN unnest(${states}::text[]) AS of_state(name)
CROSS JOIN LATERAL (
  SELECT * FROM top_up t WHERE t.provider = of_provider.name AND t.state = of_state.name AND t.id < $1::uuid ${NEWEST}
) t ${NEWEST}`;
/** What needs a look, and what has left something owed; neither grows with what is over and done with. */
const newestNeedingAttention = (isMeant: string): string => `
SELECT t.* FROM (
  (SELECT t.id FROM top_up t WHERE (t.state = 'review' OR t.problem IS NOT NULL OR t.dispute IS NOT NULL)
     AND t.id < $1::uuid${isMeant} ${NEWEST})
  UNION
  (SELECT DISTINCT r.top_up_id FROM receivable r CROSS JOIN LATERAL (
     SELECT FROM top_up t WHERE t.id = r.top_up_id${isMeant} OFFSET 0
   ) t WHERE r.collected < r.amount AND r.top_up_id < $1::uuid ORDER BY r.top_up_id DESC LIMIT $2::int)
) which JOIN top_up t ON t.id = which.id ${NEWEST}`;
/** Which top-ups, and which part of them: at most `limit`, with ids before `beforeId`; null: from the newest on. */
export type TopUpRange = { readonly filter: TopUpFilter; readonly beforeId: string | null; readonly limit: number };

/** A page of top-ups, newest first. Errors: ServiceBusy when it takes too long. */
export async function findTopUps(pool: Pool, range: TopUpRange, answerWithinMs = ANSWER_WITHIN_MS): Promise<TopUp[]> {
  const { chosen, values } = statementOf(range);
  const rows = await readWithin(pool, answerWithinMs, async (query) => {
    await query(BY_KEY);
    return query<Row>(`SELECT ${COLUMNS} FROM (${chosen}) t ORDER BY t.id DESC`, values);
  });
  return rows.map(fromRow);
}

const SORTED_BY = { time: "0::bigint", amount: "t.amount" } as const;
export const TOP_UP_ORDERS = Object.keys(SORTED_BY) as (keyof typeof SORTED_BY)[];
type TopUpOrder = ListOrder<keyof typeof SORTED_BY>;

/** Where a top-up is in an order. */
export function placeOfTopUp({ column }: TopUpOrder, { topUpId, amount }: TopUp): OrderedPlace {
  return { value: column === "amount" ? amount : 0n, id: topUpId };
}

/**
 * A page of top-ups in an order, behind a place. Errors: ValidationError when the filter leaves too many to be sorted; ServiceBusy when it
 * takes too long.
 */
export async function findSortedTopUps(
  pool: Pool,
  {
    filter,
    order: { column, isDown },
    place,
    limit,
  }: {
    readonly filter: TopUpFilter;
    readonly order: TopUpOrder;
    readonly place: OrderedPlace | null;
    readonly limit: number;
  },
  mostSorted = MOST_SORTED,
): Promise<TopUp[]> {
  const { chosen, values } = statementOf({ filter, beforeId: null, limit: mostSorted + 1 });
  const [value, id, most] = [1, 2, 3].map((index) => `$${values.length + index}`);
  const direction = isDown ? "DESC" : "";
  const text = `
SELECT ${COLUMNS}, t.found FROM (
  SELECT t.*, ${SORTED_BY[column]} AS sort_value, count(*) OVER ()::int AS found FROM (${chosen}) t
) t
WHERE ${value}::bigint IS NULL OR (t.sort_value, t.id) ${isDown ? "<" : ">"} (${value}::bigint, ${id}::uuid)
ORDER BY t.sort_value ${direction}, t.id ${direction} LIMIT ${most}::int`;
  const rows = await readWithin(pool, ANSWER_WITHIN_MS, async (query) => {
    await query(BY_KEY);
    return query<Row & { found: number }>(text, [...values, place?.value ?? null, place?.id ?? null, limit]);
  });
  requireSortable(rows[0]?.found ?? 0, mostSorted);
  return rows.map(fromRow);
}

function statementOf({ filter, beforeId, limit }: TopUpRange): { chosen: string; values: readonly unknown[] } {
  const { accountId, provider, state, needsAttention } = filter;
  const values: unknown[] = [beforeId ?? LAST_UUID, limit];
  const parameter = (value: unknown): string => `$${values.push(value)}`;
  if (accountId === null && !needsAttention && (provider !== null || state !== null)) {
    const providers = parameter(provider === null ? PROVIDER_NAMES : [provider]);
    return { chosen: newestOfStates(providers, parameter(state === null ? TOP_UP_STATES : [state])), values };
  }
  const isMeant =
    (accountId === null ? "" : ` AND t.account_id = ${parameter(accountId)}::uuid`) +
    (provider === null ? "" : ` AND t.provider = ${parameter(provider)}::text`) +
    (state === null ? "" : ` AND t.state = ${parameter(state)}::text`);
  return { chosen: needsAttention ? newestNeedingAttention(isMeant) : newestWhere(isMeant), values };
}

/** The last notifications of a top-up, newest first. */
export async function readEvents(
  pool: Pool,
  topUpId: string,
  limit: number,
): Promise<(PaymentEvent & { readonly receivedAt: Date })[]> {
  const { em, PaymentEvent } = await entitiesOn(pool);
  const rows = await em.find(PaymentEvent, { topUpId }, { orderBy: { id: "desc" }, limit });
  return rows.map(({ id, provider, eventKey, orderId, topUpId: ofTopUp, status, amount, finding, receivedAt }) => ({
    eventId: id,
    provider,
    eventKey,
    orderId,
    topUpId: ofTopUp ?? null,
    status,
    amount,
    finding: finding as PaymentEvent["finding"],
    receivedAt,
  }));
}

/** A notification about an order that the books do not have. */
export type UnknownPayment = Pick<PaymentEvent, "eventId" | "provider" | "orderId" | "status" | "amount"> & {
  readonly receivedAt: Date;
};

/** The last notifications about orders that the books do not have, newest first. After a restore such an order may have been paid. */
export async function listUnknownPayments(pool: Pool, limit: number): Promise<UnknownPayment[]> {
  return (await pool.query<UnknownPayment>(UNKNOWN, [limit])).rows;
}

/** How many such notifications came within a week, counted up to a thousand. */
export async function countUnknownPayments(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ events: number }>(COUNT_UNKNOWN, [uuidv7Floor(Date.now() - UNKNOWN_MS)]);
  return rows[0]?.events ?? 0;
}
