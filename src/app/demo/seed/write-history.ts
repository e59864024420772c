// Writes a made-up past: top-ups, their postings, and usage records, with moments of their own. Code that serves cannot do that: it
// writes every row at the moment it happens. So this is SQL of its own, in one transaction, by the role saldo_seed, which no
// service logs in as. A top-up's key and a record's upstream request begin with `seed-`.

import { randomBytes } from "node:crypto";
import type { Client } from "pg";
import { SANDBOX_PAGE_PATH } from "../../../billing/payments/sandbox/sandbox-provider.ts";
import { costOf } from "../../../billing/cost.ts";
import { billingDay, DAY_MS } from "../../../kernel/clock.ts";
import { uuidv7 } from "../../../kernel/ids.ts";
import { meteringColumn } from "../../../ledger/group-commit/token-columns.ts";
import { lockAccount } from "../../../ledger/account-lock.ts";
import { systemAccounts } from "../../../ledger/system-accounts.ts";
import type { PlannedTopUp, PricedRequest } from "./plan-money.ts";

const ROWS_PER_STATEMENT = 1_000;

const MOVE_BALANCE = `UPDATE account SET posted = posted + $2::bigint WHERE id = $1::uuid`;
const MARK_KEY_USED = `UPDATE api_key SET slots = ARRAY[$3::timestamptz], slot_counts = '{1}' WHERE account_id = $1::uuid AND id = $2::uuid`;
const insertInto = (table: string): string =>
  `INSERT INTO ${table} SELECT * FROM jsonb_populate_recordset(NULL::${table}, $1::jsonb)`;

/** A row by its columns; whole numbers of 64 bits are text. */
type Columns = Readonly<Record<string, string | number | boolean | object | null>>;

export type History = {
  readonly accountId: string;
  readonly topUps: readonly PlannedTopUp[];
  readonly requests: readonly PricedRequest[];
  /** Where the service is reached, for the pages of the sandbox's payments. */
  readonly baseUrl: string;
};

/** Writes a past behind the account's lock. `client` is a connection of the owner. */
export async function writeHistory(client: Client, history: History): Promise<void> {
  const { accountId, topUps, requests, baseUrl } = history;
  await client.query("BEGIN");
  try {
    await client.query("SET LOCAL ROLE saldo_seed");
    await lockAccount(client, accountId);
    const orders = topUps.map((topUp, index) => orderOf(topUp, { accountId, baseUrl, number: index + 1 }));
    await insert(
      client,
      "top_up",
      orders.map(({ order }) => order),
    );
    await insert(
      client,
      "sandbox_payment",
      orders.map(({ payment }) => payment),
    );
    await insert(
      client,
      "posting",
      orders.flatMap(({ posting }) => (posting === null ? [] : [posting])),
    );
    await insert(
      client,
      "usage_record",
      requests.map((each) => recordOf(accountId, each)),
    );
    const paid = topUps.filter(({ state }) => state === "paid");
    const bought = paid.reduce((sum, { amount }) => sum + amount, 0n);
    const spent = requests.reduce((sum, { cost }) => sum + cost, 0n);
    await client.query(MOVE_BALANCE, [accountId, bought - spent]);
    const lastUse = new Map(requests.map(({ keyId, request }) => [keyId, new Date(request.atMs)]));
    for (const [keyId, at] of lastUse) await client.query(MARK_KEY_USED, [accountId, keyId, at]);
    await client.query("COMMIT");
  } catch (error) {
    await client.query("ROLLBACK");
    throw error;
  }
}

async function insert(client: Client, table: string, rows: readonly Columns[]): Promise<void> {
  for (let from = 0; from < rows.length; from += ROWS_PER_STATEMENT) {
    await client.query(insertInto(table), [JSON.stringify(rows.slice(from, from + ROWS_PER_STATEMENT))]);
  }
}

type Ordering = { readonly accountId: string; readonly baseUrl: string; readonly number: number };

/** The rows of a top-up: the order, the payment at the sandbox provider, and the posting that credits it where it was paid. */
function orderOf(
  { atMs, amount: units, state }: PlannedTopUp,
  { accountId, baseUrl, number }: Ordering,
): { order: Columns; payment: Columns; posting: Columns | null } {
  const id = uuidv7(atMs);
  const at = new Date(atMs).toISOString();
  const expiresAt = new Date(atMs + DAY_MS).toISOString();
  const amount = units.toString();
  const isPaid = state === "paid";
  const token = randomBytes(24).toString("base64url");
  return {
    order: {
      id,
      account_id: accountId,
      idempotency_key: `seed-${number}`,
      amount,
      provider: "sandbox",
      state,
      provider_reference: `sandbox-${id}`,
      payment_url: `${baseUrl}${SANDBOX_PAGE_PATH}/${token}`,
      given_back: "0",
      tax: "0",
      tax_rate: 0,
      tax_included: false,
      revision: 1,
      failures: 0,
      created_at: at,
      expires_at: expiresAt,
      paid_at: isPaid ? at : null,
      changed_at: isPaid ? at : expiresAt,
    },
    payment: {
      order_id: id,
      token,
      amount,
      paid: isPaid ? amount : "0",
      given_back: "0",
      status: state,
      return_url: `${baseUrl}/billing?topUp=${id}`,
      expires_at: expiresAt,
      created_at: at,
    },
    posting: isPaid
      ? {
          account_id: accountId,
          id: uuidv7(atMs),
          group_id: id,
          asset: "IDR/6",
          debit: systemAccounts.providerClearing,
          credit: accountId,
          amount,
          reason: "top_up",
          reference: `top-up:${id}`,
          posted_at: at,
        }
      : null,
  };
}

/** The usage record of a request, charged in full. */
function recordOf(accountId: string, { request, keyId, model, prices, cost }: PricedRequest): Columns {
  const { requestId, atMs, counts, basis, failure, streamed, durationMs, firstByteMs } = request;
  const metering = failure === null ? null : meteringColumn({ metering: { failure } });
  const [route] = model.routes;
  const answered = basis !== "free" && route !== undefined;
  return {
    account_id: accountId,
    request_id: requestId,
    key_id: keyId,
    model: model.id,
    input_tokens_uncached: counts.inputTokensUncached,
    input_tokens_cached: counts.inputTokensCached,
    output_tokens: counts.outputTokens,
    input_price: prices.input.toString(),
    output_price: prices.output.toString(),
    cache_hit_price: prices.cacheHit?.toString() ?? null,
    cost: cost.toString(),
    charge: cost.toString(),
    basis,
    billing_day: billingDay(atMs),
    upstream: answered ? route.upstream : null,
    upstream_model: answered ? route.model : null,
    upstream_request_id: answered ? `seed-${requestId.slice(-12)}` : null,
    upstream_cost: answered && route.cost !== undefined ? costOf(counts, route.cost).toString() : null,
    streamed,
    duration_ms: durationMs,
    first_byte_ms: firstByteMs,
    clamped: false,
    metering: metering === null ? null : (JSON.parse(metering) as object),
    unbilled_cost: "0",
    settled_at: new Date(atMs + durationMs).toISOString(),
  };
}
