// Operators' lists of all top-ups use the indexes, however many rows there are, and contain exactly the matching rows.

import { afterAll, beforeAll, expect, it } from "vitest";
import { findTopUps, type TopUpFilter } from "../../src/billing/top-ups/find-top-ups.ts";
import { UpstreamBusy } from "../../src/kernel/errors.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { explaining, pausing } from "../setup/explaining-pool.ts";
import { createTestDatabase, type TestDatabase } from "../setup/test-database.ts";
import { onServer } from "../setup/test-servers.ts";

const PAID = 20_000;
const REFUNDED = 5_000;
/** A page, and the rows that any step towards it may read: a page for each of a few groups. */
const LIMIT = 51;
const MOST_ROWS = 200;
const EVERY: TopUpFilter = { accountId: null, provider: null, state: null, needsAttention: false };

const busy = uuidv7();
const idle = uuidv7();
let opened: TestDatabase;
beforeAll(async () => {
  opened = await createTestDatabase();
  const run = (text: string) => onServer(opened.url, text);
  await run(`INSERT INTO account (id) VALUES ('${busy}'), ('${idle}')`);
  const insert = (state: string, count: number, { provider = "midtrans", problem = "NULL", givenBack = 0 } = {}) =>
    run(`INSERT INTO top_up (id, account_id, idempotency_key, amount, provider, state, given_back, problem, expires_at, paid_at)
         SELECT gen_random_uuid(), '${busy}', gen_random_uuid(), 10, '${provider}', '${state}', ${givenBack}, ${problem}, now(),
           CASE WHEN '${state}' IN ('paid', 'refunded', 'charged_back') THEN now() END
         FROM generate_series(1, ${count}) n`);
  await insert("paid", PAID);
  await insert("refunded", REFUNDED, { givenBack: 10 });
  await insert("failed", 3, { provider: "xendit" });
  await insert("review", 2);
  await insert("paid", 2, { problem: "'a wrong amount'" });
  await insert("paid", 2, { provider: "xendit" });
  await run("UPDATE top_up SET dispute = 'open' WHERE provider = 'xendit' AND state = 'paid'");
  await insert("charged_back", 2, { givenBack: 10 });
  // Two debts of one top-up are one top-up; a collected debt is none.
  await run(`INSERT INTO receivable (id, account_id, top_up_id, amount, collected)
             SELECT gen_random_uuid(), account_id, id, 4, collected
             FROM (SELECT * FROM top_up WHERE state = 'charged_back' ORDER BY id LIMIT 1) t, (VALUES (0), (1), (4)) AS debt(collected)
             UNION ALL
             SELECT gen_random_uuid(), account_id, id, 10, 10 FROM top_up WHERE state = 'refunded'`);
  await run("ANALYZE");
});
afterAll(() => opened.drop());

/** The matching ids, found by reading every top-up. */
async function fitting({ accountId, provider, state, needsAttention }: TopUpFilter): Promise<string[]> {
  const { rows } = await opened.database.pool.query<{ id: string }>(
    `SELECT id FROM top_up t
     WHERE ($1::uuid IS NULL OR account_id = $1) AND ($2::text IS NULL OR provider = $2) AND ($3::text IS NULL OR state = $3)
       AND (NOT $4 OR state = 'review' OR problem IS NOT NULL OR dispute IS NOT NULL
            OR EXISTS (SELECT FROM receivable r WHERE r.top_up_id = t.id AND r.collected < r.amount))
     ORDER BY id DESC LIMIT ${LIMIT}`,
    [accountId, provider, state, needsAttention],
  );
  return rows.map(({ id }) => id);
}

const filters: Readonly<Record<string, Partial<TopUpFilter>>> = {
  "all of them": {},
  "an account's": { accountId: busy },
  "those of an account that has none": { accountId: idle },
  "a provider's": { provider: "midtrans" },
  "those of a provider that has few": { provider: "xendit" },
  "those of a provider that has none": { provider: "sandbox" },
  "those in a state": { state: "paid" },
  "those in a state that few are in": { state: "failed" },
  "those in a state that none is in": { state: "canceled" },
  "a provider's in a state that none is in": { provider: "midtrans", state: "failed" },
  "an account's of a provider": { accountId: busy, provider: "midtrans" },
  "what needs a look": { needsAttention: true },
  "what of an account needs a look": { accountId: busy, needsAttention: true },
  "what of an account that has none needs a look": { accountId: idle, needsAttention: true },
  "what of a provider needs a look": { provider: "midtrans", needsAttention: true },
  "what in a state needs a look": { state: "charged_back", needsAttention: true },
};

it.each(Object.entries(filters))("asking for %s finds them and reads few rows", async (_what, given) => {
  const filter = { ...EVERY, ...given };
  const { pool, read } = explaining(opened.database.pool);
  const found = await findTopUps(pool, { filter, beforeId: null, limit: LIMIT });
  expect(found.map(({ topUpId }) => topUpId)).toEqual(await fitting(filter));
  const { most, asked } = read();
  expect(asked).toBe(1);
  expect(most).toBeLessThan(MOST_ROWS);
  // The next page begins after the last one.
  const middle = found[Math.floor(found.length / 2)];
  if (middle === undefined) return;
  const behind = await findTopUps(pool, { filter, beforeId: middle.topUpId, limit: 3 });
  const at = found.indexOf(middle) + 1;
  expect(behind.map(({ topUpId }) => topUpId)).toEqual(found.slice(at, at + 3).map(({ topUpId }) => topUpId));
  expect(read().most).toBeLessThan(MOST_ROWS);
});

it("a list that takes too long ends, and the caller is asked to try again", async () => {
  const page = { filter: EVERY, beforeId: null, limit: LIMIT };
  await expect(findTopUps(pausing(opened.database.pool), page, 50)).rejects.toBeInstanceOf(UpstreamBusy);
});
