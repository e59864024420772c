import type { Pool } from "pg";
import type { UsageBasis } from "../ledger/ledger.ts";
import type { UsageRecord } from "./usage.ts";

const SELECT_USAGE = `
SELECT request_id, key_id, model, input_tokens_uncached, input_tokens_cached, output_tokens, input_price, output_price,
       cache_hit_price, cost, charge, basis, billing_day::text AS billing_day, upstream, upstream_model, upstream_request_id,
       upstream_cost, streamed, duration_ms, first_byte_ms, clamped
FROM usage_record
WHERE account_id = $1::uuid AND request_id >= $2::uuid AND request_id < coalesce($3::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
  AND ($4::text IS NULL OR model = $4) AND ($5::uuid IS NULL OR key_id = $5)
ORDER BY request_id DESC LIMIT $6`;

type Row = {
  request_id: string;
  key_id: string;
  model: string;
  input_tokens_uncached: number;
  input_tokens_cached: number;
  output_tokens: number;
  input_price: bigint;
  output_price: bigint;
  cache_hit_price: bigint | null;
  cost: bigint;
  charge: bigint;
  basis: UsageBasis;
  billing_day: string;
  upstream: string | null;
  upstream_model: string | null;
  upstream_request_id: string | null;
  upstream_cost: bigint | null;
  streamed: boolean;
  duration_ms: number;
  first_byte_ms: number | null;
  clamped: boolean;
};

/** Usage of an account with ids from `fromId` to before `beforeId`, newest first. */
export async function selectUsage(
  pool: Pool,
  range: {
    accountId: string;
    fromId: string;
    beforeId: string | null;
    model: string | null;
    keyId: string | null;
    limit: number;
  },
): Promise<UsageRecord[]> {
  const { accountId, fromId, beforeId, model, keyId, limit } = range;
  const { rows } = await pool.query<Row>(SELECT_USAGE, [accountId, fromId, beforeId, model, keyId, limit]);
  return rows.map(fromRow);
}

function fromRow(row: Row): UsageRecord {
  return {
    requestId: row.request_id,
    keyId: row.key_id,
    model: row.model,
    inputTokensUncached: row.input_tokens_uncached,
    inputTokensCached: row.input_tokens_cached,
    outputTokens: row.output_tokens,
    inputPrice: row.input_price,
    outputPrice: row.output_price,
    cacheHitPrice: row.cache_hit_price,
    cost: row.cost,
    charge: row.charge,
    basis: row.basis,
    billingDay: row.billing_day,
    upstream: row.upstream,
    upstreamModel: row.upstream_model,
    upstreamRequestId: row.upstream_request_id,
    upstreamCost: row.upstream_cost,
    streamed: row.streamed,
    durationMs: row.duration_ms,
    firstByteMs: row.first_byte_ms,
    clamped: row.clamped,
  };
}
