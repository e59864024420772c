// What looking for low accounts costs: it follows keys from the accounts that want it, and reads no order of an account that is not low.

import { afterAll, beforeAll, expect, it } from "vitest";
import { type AutoTopUpWork, chargeAutoTopUps } from "../../src/billing/auto-top-ups/charge-auto-top-ups.ts";
import { noteMissedOutcomes } from "../../src/billing/auto-top-ups/store.ts";
import type { Database } from "../../src/database/database.ts";
import { explaining } from "../setup/explaining-pool.ts";
import { onServer } from "../setup/test-servers.ts";
import type { TopUpProcess } from "../top-ups/top-up-setup.ts";
import { AutoTopUpSetup } from "./auto-top-up-setup.ts";

const ACCOUNTS = 450;
const ORDERS = 40_000;
/** Accounts of a page, and a few rows beside them. */
const MOST_ROWS = 450;

let setup: AutoTopUpSetup;
let one: TopUpProcess;
beforeAll(async () => {
  setup = await AutoTopUpSetup.create();
  one = await setup.process();
  const run = (text: string) => onServer(setup.topUps.money.opened.url, text);
  // Accounts that want it and are far above their threshold. Each was charged many times, all within these days.
  await run(`
INSERT INTO account (id, posted) SELECT new_uuidv7(), 5000000000000 FROM generate_series(1, ${ACCOUNTS});
INSERT INTO payment_method (id, account_id, provider, token, label)
SELECT new_uuidv7(), id, 'sandbox', 'sandbox-card:none', '0000' FROM account WHERE posted = 5000000000000;
INSERT INTO auto_top_up (account_id, is_on, threshold, amount, monthly_cap)
SELECT account_id, true, 1000000000, 50000000000, 900000000000 FROM payment_method;
INSERT INTO top_up (id, account_id, idempotency_key, amount, provider, state, expires_at, paid_at, method_id, changed_at)
SELECT new_uuidv7(), m.account_id, gen_random_uuid(), 50000000000, 'sandbox', 'paid', now(), now(), m.id, now() - n * interval '4 seconds'
FROM generate_series(1, ${ORDERS}) n
JOIN (SELECT id, account_id, row_number() OVER (ORDER BY id) AS at FROM payment_method) m ON m.at = 1 + n % ${ACCOUNTS};
ANALYZE`);
});
afterAll(() => setup.close());

/** A round of the work, and the most rows that any step of its statements has read. */
async function round(): Promise<{ most: number; asked: number }> {
  const { pool, read } = explaining(one.database.pool);
  const work: AutoTopUpWork = { ...setup.work(one), database: { pool } as Database };
  await chargeAutoTopUps(work, "sandbox");
  return read();
}

it("reads the accounts that want it, in pages, and none of their orders", async () => {
  const { most, asked } = await round();
  // Three pages of two hundred.
  expect(asked).toBe(3);
  expect(most).toBeLessThanOrEqual(MOST_ROWS);
});

it("reads the orders of an account that is low, and of no other", async () => {
  const accountId = await setup.account(one);
  await round();
  await setup.ask(one, accountId);
  expect(await setup.orders(one, accountId)).toMatchObject([{ state: "paid" }]);
  const { most } = await round();
  expect(most).toBeLessThanOrEqual(MOST_ROWS);
});

it.each([
  ["at its monthly cap", { cap: 50_000n }],
  ["whose method was refused", { card: "pay_refused_card" }],
] as const)("does not look each round at an account %s", async (_name, given) => {
  const idle = (await round()).asked;
  const accountId = await setup.account(one, given);
  await round();
  await setup.ask(one, accountId);
  await round();
  const orders = (await setup.orders(one, accountId)).length;
  expect(orders).toBe(1);
  // Now only the pages are read.
  expect((await round()).asked).toBe(idle);
  // It is looked at again within an hour, and when its owner saves the settings.
  const waits =
    "SELECT not_before <= clock_timestamp() + interval '1 hour' AS soon FROM auto_top_up WHERE account_id = $1";
  expect((await one.database.pool.query(waits, [accountId])).rows).toEqual([{ soon: true }]);
  await one.database.pool.query("UPDATE auto_top_up SET is_on = false WHERE account_id = $1", [accountId]);
});

it("notes outcomes that an older process wrote, from what has changed lately and each once", async () => {
  const notes = async (): Promise<number> =>
    (await one.database.pool.query<{ n: number }>("SELECT count(*)::int AS n FROM auto_top_up_notice")).rows[0]?.n ?? 0;
  const before = await notes();
  await noteMissedOutcomes(one.database);
  const changed =
    "SELECT count(*)::int AS n FROM top_up WHERE changed_at > now() - interval '2 hours' AND paid_at IS NOT NULL AND method_id IS NOT NULL";
  const lately = (await one.database.pool.query<{ n: number }>(changed)).rows[0]?.n ?? 0;
  expect(lately).toBeLessThan(ORDERS / 10);
  expect((await notes()) - before).toBeGreaterThan(lately - 10);
  expect((await notes()) - before).toBeLessThanOrEqual(lately);
  const after = await notes();
  await noteMissedOutcomes(one.database);
  expect(await notes()).toBe(after);
});
