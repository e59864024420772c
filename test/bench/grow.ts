// Usage records of a long life, written by SQL: free ones, so that they change no balance, under every account and over weeks.

import type { Database } from "../../src/database/database.ts";

/** The model of such records, by which the books leave them out. */
export const GROWN_MODEL = "bench/grown";

const PER_STATEMENT = 50_000;
const OVER_DAYS = 25;

// The id has its time in front and a version 7, and the rest is chance, as with real ones.
const GROW = `
INSERT INTO usage_record (account_id, request_id, key_id, model, input_tokens_uncached, input_tokens_cached, output_tokens,
  input_price, output_price, cache_hit_price, cost, charge, basis, billing_day, streamed, duration_ms, settled_at)
SELECT a.id, r.id, a.key_id, $1, 0, 0, 0, 0, 0, NULL, 0, 0, 'free', (uuid_time(r.id) AT TIME ZONE 'Asia/Jakarta')::date, false, 1, NULL
FROM (
  SELECT number, (left(uuid_floor(now() - random() * make_interval(days => ${OVER_DAYS}))::text, 14) || '7'
    || substr(gen_random_uuid()::text, 16))::uuid AS id
  FROM generate_series(0, $2::int - 1) AS number
) r
JOIN (
  SELECT account_id AS id, min(id::text)::uuid AS key_id, row_number() OVER (ORDER BY account_id) - 1 AS place, count(*) OVER () AS accounts
  FROM api_key GROUP BY account_id
) a ON a.place = r.number % a.accounts`;
// The audit compares prices with the changes of the catalog, so the model was added before its first record.
const ADD_MODEL = `
INSERT INTO catalog_change (id, subject, change, after, changed_at)
SELECT gen_random_uuid(), 'model:' || $1::text, 'added', '{"price.input": "0", "price.output": "0", "context_length": 1000}',
  now() - make_interval(days => ${OVER_DAYS + 1})
WHERE NOT EXISTS (SELECT FROM catalog_change WHERE subject = 'model:' || $1::text)`;

/** Adds so many usage records, dealt out over all accounts. */
export async function growUsage(database: Database, records: number): Promise<void> {
  const client = await database.connect();
  try {
    await client.query(ADD_MODEL, [GROWN_MODEL]);
    for (let left = records; left > 0; left -= PER_STATEMENT) {
      await client.query(GROW, [GROWN_MODEL, Math.min(left, PER_STATEMENT)]);
    }
  } finally {
    await client.end();
  }
}
