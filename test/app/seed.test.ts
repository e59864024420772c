// A month of life for the demo, beside a server that is running.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { listLedgerEntries } from "../../src/billing/usage/ledger-entries.ts";
import { runSaldo, saldoJson } from "../setup/saldo-command.ts";
import { SaldoHere } from "../setup/saldo-here.ts";
import { createTestDatabase, type TestDatabase } from "../setup/test-database.ts";

const A_SEED_MS = 60_000;

let opened: TestDatabase;
let folder: string;
let settings: Record<string, string>;
let saldo: SaldoHere;
beforeAll(async () => {
  opened = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), "saldo-seed-"));
  settings = { DATABASE_URL: opened.url, SALDO_DATA_DIR: folder };
  saldo = await SaldoHere.start(settings);
});
afterAll(async () => {
  await saldo.stop();
  await opened.drop();
  await rm(folder, { recursive: true });
});

const rows = async <Row extends Record<string, unknown>>(text: string, values: unknown[] = []): Promise<Row[]> =>
  (await opened.database.pool.query<Row>(text, values)).rows;

it("does nothing where there is no demo, or in production", async () => {
  for (const others of [{ SALDO_DEMO: "0" }, { SALDO_DEMO: "1", NODE_ENV: "production" }]) {
    const { code, stderr } = await runSaldo(["seed"], { ...settings, ...others });
    expect(code).toBe(2);
    expect(stderr).toContain("only in a demo");
  }
  expect(await rows("SELECT FROM usage_record")).toEqual([]);
});

it(
  "makes a month of requests, top-ups and transfers, once, and the books are in order",
  { timeout: A_SEED_MS },
  async () => {
    const seeded = await saldoJson(["seed"], settings);
    expect(seeded).toMatchObject({ seeded: true, days: 30, transfers: 7 });
    const { accountId = "" } = seeded;
    const [usage] = await rows(
      `SELECT count(*)::int AS requests, count(DISTINCT billing_day)::int AS days, count(DISTINCT model)::int AS models,
       count(DISTINCT key_id)::int AS keys, array_agg(DISTINCT basis ORDER BY basis) AS bases FROM usage_record WHERE account_id = $1`,
      [accountId],
    );
    const bases = ["drained", "estimated", "exact", "free"];
    expect(usage).toMatchObject({ requests: seeded["requests"], models: 4, keys: 3, bases });
    const [failed] = await rows(
      `SELECT count(*)::int AS all, count(*) FILTER (WHERE basis IN ('free', 'drained'))::int AS unanswered
       FROM usage_record WHERE account_id = $1 AND metering->'failure'->>'code' IS NOT NULL`,
      [accountId],
    );
    expect(failed?.["all"]).toBeGreaterThan(50);
    expect(failed?.["unanswered"]).toBe(failed?.["all"]);
    // In the first hours of a day there are no calls yet.
    expect(usage?.["days"]).toBeOneOf([29, 30]);
    expect(await saldoJson(["audit", "--full", "--hurry"], settings)).toMatchObject({ ok: true, violations: [] });

    // A month that is there is not made again.
    expect(await saldoJson(["seed", "--seed", "2"], settings)).toMatchObject({ seeded: false, requests: 0 });
    expect(await rows("SELECT FROM usage_record")).toHaveLength(Number(seeded["requests"]));
  },
);

it("leaves a ledger that was above zero at every line, and sums that are the records'", async () => {
  const { accountId = "" } = await saldoJson(["seed"], settings);
  const { items: entries } = await listLedgerEntries(opened.database.pool, {
    accountId,
    pageSize: 10_000,
    pageToken: "",
  });
  expect(entries.length).toBeGreaterThan(2_000);
  expect(entries.filter(({ runningBalance }) => runningBalance <= 0n)).toEqual([]);
  const oldest = entries.at(-1);
  expect(oldest).toMatchObject({ reason: "top_up", runningBalance: oldest?.amount });
  const [sums] = await rows(
    `SELECT (SELECT sum(charge) FROM usage_roll_up WHERE account_id = $1) + (SELECT coalesce(sum(u.charge), 0) FROM usage_record u
       JOIN usage_rolled_up m USING (account_id) WHERE account_id = $1 AND request_id >= quarter_floor(m.before_quarter)) AS rolled,
       (SELECT sum(charge) FROM usage_record WHERE account_id = $1) AS charged`,
    [accountId],
  );
  expect(sums?.["rolled"]).toBe(sums?.["charged"]);
});

it("has transfers that the running server carries out, and one that waits for an operator", async () => {
  const open = () => rows("SELECT FROM transfer WHERE status NOT IN ('CONFIRMED', 'REJECTED') AND NOT awaits_approval");
  await expect.poll(open, { timeout: 40_000, interval: 500 }).toEqual([]);
  const ended = await rows("SELECT status, count(*)::int AS count FROM transfer GROUP BY status ORDER BY status");
  expect(ended).toEqual([
    { status: "CONFIRMED", count: 5 },
    { status: "REJECTED", count: 1 },
    { status: "WAITING", count: 1 },
  ]);
  const fees = await rows<{ currency_code: string; dearest: number }>(
    "SELECT currency_code, max(fee / received)::float8 AS dearest FROM transfer GROUP BY currency_code",
  );
  expect(fees).toHaveLength(3);
  for (const { currency_code, dearest } of fees) expect(dearest, currency_code).toBeLessThan(0.02);
  expect(await saldoJson(["audit", "--full", "--hurry"], settings)).toMatchObject({ ok: true, violations: [] });
});
