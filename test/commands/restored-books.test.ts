// `saldo recover prepare`: what a restored external server may not do by itself.

import { afterAll, beforeAll, expect, it } from "vitest";
import { newCustomer } from "../app/customer.ts";
import { runSaldo, saldoJson } from "../setup/saldo-command.ts";
import { createTestDatabase, type TestDatabase } from "../setup/test-database.ts";

const UNTIL = "2026-11-24T15:04:05.000Z";

let own: TestDatabase;
let settings: Record<string, string>;
beforeAll(async () => {
  own = await createTestDatabase();
  settings = { DATABASE_URL: own.url };
  await newCustomer(settings);
  await own.database.pool.query(
    "INSERT INTO process (id, expires_at) VALUES (gen_random_uuid(), clock_timestamp() + interval '1 minute')",
  );
});
afterAll(() => own.drop());

const facts = async () => {
  const { rows } = await own.database.pool.query(
    `SELECT (SELECT count(*)::int FROM process WHERE dead_at IS NULL) AS living,
       (SELECT reason FROM payout_stop WHERE scope = 'all') AS "payoutsStoppedFor",
       (SELECT stopped_at IS NOT NULL FROM admission_switch) AS "isStopped"`,
  );
  return rows[0] as object;
};

it("stops admissions and payouts, counts processes as dead, and audits", async () => {
  expect(await facts()).toMatchObject({ living: 1, payoutsStoppedFor: null, isStopped: false });
  expect(await saldoJson(["recover", "prepare", "--until", UNTIL], settings)).toEqual({
    until: UNTIL,
    timeline: 1,
    ok: true,
  });
  const reason = expect.stringContaining(`restored to ${UNTIL}, timeline 1`) as string;
  expect(await facts()).toMatchObject({ living: 0, payoutsStoppedFor: reason, isStopped: true });
});

it("reports violations with exit code 1, and keeps the books closed", async () => {
  await own.database.pool.query("UPDATE account SET posted = posted + 1");
  const { code, stdout } = await runSaldo(["recover", "prepare", "--until", UNTIL, "--json"], settings);
  expect([code, JSON.parse(stdout)]).toMatchObject([1, { ok: false, violations: [{}] }]);
  expect(await facts()).toMatchObject({ living: 0, isStopped: true });
});

it("needs the moment with its zone, and a server of DATABASE_URL", async () => {
  const wrong = await runSaldo(["recover", "prepare", "--until", "2026-11-24 15:04"], settings);
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("--until is a time with its zone")]);
  const embedded = await runSaldo(["recover", "prepare", "--until", UNTIL], {});
  expect([embedded.code, embedded.stderr]).toEqual([2, expect.stringContaining("is for a server of DATABASE_URL")]);
});
