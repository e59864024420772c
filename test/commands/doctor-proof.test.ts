// The doctor on the key that signs sealed days: without one, with the one that signed the last day, and with another.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { sealDays } from "../../src/billing/proof/seal.ts";
import { proofKey } from "../../src/billing/proof/signing.ts";
import { DAY_MS } from "../../src/kernel/clock.ts";
import { newCustomer } from "../app/customer.ts";
import { createTestDatabase, type TestDatabase } from "../setup/test-database.ts";
import { diagnose } from "./doctor-findings.ts";

const [KEY, LATER] = ["k".repeat(40), "l".repeat(40)];

let opened: TestDatabase;
let settings: Record<string, string>;
beforeAll(async () => {
  opened = await createTestDatabase();
  settings = { DATABASE_URL: opened.url, SALDO_DATA_DIR: await mkdtemp(join(tmpdir(), "saldo-doctor-proof-")) };
});
afterAll(async () => {
  await opened.drop();
  await rm(settings["SALDO_DATA_DIR"] ?? "", { recursive: true });
});

async function proofKeyOf(key?: string) {
  const { code, stdout, of } = await diagnose({ ...settings, ...(key && { SALDO_PROOF_KEY: key }) });
  expect(stdout).not.toMatch(/k{6}|l{6}/);
  return { code, ...of("proof key") };
}

it("the key of sealed days is looked at before the first day is sealed, and compared with the last one", async () => {
  expect(await proofKeyOf()).toMatchObject({
    code: 0,
    state: "warning",
    advice: expect.stringMatching(/^Set it to 32/),
  });
  expect(await proofKeyOf(KEY)).toMatchObject({ state: "ok", finding: "is set; no day is sealed yet" });
  await newCustomer(settings, { amount: "10000" });
  await sealDays(opened.database.pool, { keys: [proofKey(KEY)], share: 1, nowMs: Date.now() + 2 * DAY_MS });
  expect(await proofKeyOf(KEY)).toMatchObject({ state: "ok", finding: "signed the last sealed day" });
  expect(await proofKeyOf()).toMatchObject({
    code: 0,
    state: "warning",
    finding: "days were sealed, and this node has no key",
  });
  expect(await proofKeyOf(LATER)).toMatchObject({
    code: 1,
    state: "failed",
    advice: expect.stringContaining("former key"),
  });
  expect(await proofKeyOf(`${LATER},${KEY}`)).toMatchObject({ code: 0, state: "ok" });
});
