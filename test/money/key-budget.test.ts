// The budget of a key: decided on the locked row of the key with the balance, for admissions, extensions, settlements and recovery.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { withTransaction } from "../../src/database/transactions.ts";
import type { BudgetPeriod } from "../../src/kernel/key-limit-errors.ts";
import { getKey } from "../../src/keys/issued-keys.ts";
import { NO_LIMITS } from "../../src/keys/key-limits.ts";
import { setKeyLimits } from "../../src/keys/set-key-limits.ts";
import { recountOpenRequests } from "../../src/ledger/account-limits.ts";
import type { AdmissionRequest } from "../../src/ledger/ledger.ts";
import { recoverHolds } from "../../src/ledger/recovery.ts";
import { testBackends } from "../setup/test-database.ts";
import { admission, MoneySetup, settlement, SOUND, type TestProcess } from "./money-setup.ts";
import { chooseSeed, seededRandom } from "./random.ts";

const UNIT = 5_000n; // micro-rupiah of one input token

describe.each(testBackends())("the budget of a key on the %s database", (backend) => {
  let setup: MoneySetup;
  let one: TestProcess;
  let other: TestProcess;
  beforeAll(async () => {
    setup = await MoneySetup.create(backend);
    [one, other] = [await setup.process(), await setup.process()];
  });
  afterAll(async () => {
    expect(await setup.audit()).toMatchObject(SOUND);
    await setup.close();
  });

  type Which = { readonly accountId: string; readonly keyId: string };
  const limit = ({ accountId, keyId }: Which, amount: bigint | null, period: BudgetPeriod = "total") =>
    withTransaction(setup.opened.database, (client) => {
      const budget = amount === null ? null : { amount, period };
      return setKeyLimits(client, { accountId, keyId, limits: { ...NO_LIMITS, budget } });
    });
  const stateOf = async (which: Which) => (await getKey(setup.opened.database, which)).budget;

  async function limitedKey({
    balance = 10_000n * UNIT,
    budget = 100n * UNIT,
    period = "total",
  }: { balance?: bigint; budget?: bigint; period?: BudgetPeriod } = {}) {
    const accountId = await setup.account(balance);
    const keyId = await setup.key(accountId);
    await limit({ accountId, keyId }, budget, period);
    const request = (amount: bigint, leastAmount?: bigint) => admission(accountId, keyId, amount, leastAmount);
    return { accountId, keyId, request };
  }

  async function admitted(process: TestProcess, request: AdmissionRequest): Promise<string> {
    expect(await process.ledger.admit(request)).toMatchObject({ outcome: "granted" });
    return request.requestId;
  }

  it("admits exactly as many of a hundred parallel requests as it covers, over two processes", async () => {
    const key = await limitedKey({ budget: 37n * UNIT + 4_999n });
    const asked = Array.from({ length: 100 }, (_, n) => (n % 2 === 0 ? one : other).ledger.admit(key.request(UNIT)));
    const outcomes = Map.groupBy(await Promise.all(asked), ({ outcome }) => outcome);
    expect([outcomes.get("granted")?.length, outcomes.get("over_budget")?.length]).toEqual([37, 63]);
    expect(outcomes.get("over_budget")?.[0]).toMatchObject({ period: "total", left: 4_999n });
    expect(await stateOf(key)).toEqual({ spent: 0n, held: 37n * UNIT, left: 4_999n, resetsAt: null, timeZone: null });
    expect(await setup.balance(key.accountId)).toMatchObject({ held: 37n * UNIT });
  });

  it("is read behind the lock: of two requests that wait together it admits the one that it covers", async () => {
    const key = await limitedKey({ budget: UNIT });
    const row = await setup.lockRow("account", key.accountId);
    const asked = [one, other].map(({ ledger }) => ledger.admit(key.request(UNIT)));
    await row.queued(2);
    await row.release();
    expect((await Promise.all(asked)).map(({ outcome }) => outcome).toSorted()).toEqual(["granted", "over_budget"]);
  });

  it("grants what is left of it where that is enough, and counts what is charged", async () => {
    const key = await limitedKey({ budget: 100n * UNIT });
    const request = key.request(150n * UNIT, 20n * UNIT);
    expect(await one.ledger.admit(request)).toMatchObject({ outcome: "granted", amount: 100n * UNIT });
    await one.ledger.settle(settlement(key.accountId, request.requestId, 30));
    expect(await stateOf(key)).toMatchObject({ spent: 30n * UNIT, held: 0n, left: 70n * UNIT });
    expect(await one.ledger.admit(key.request(71n * UNIT))).toMatchObject({ outcome: "over_budget", left: 70n * UNIT });
    expect(await one.ledger.admit(key.request(70n * UNIT))).toMatchObject({ outcome: "granted" });
  });

  it("leaves what a request costs beyond its hold and the budget to the operator", async () => {
    const key = await limitedKey({ budget: 50n * UNIT });
    const [dear, running] = [
      await admitted(one, key.request(20n * UNIT)),
      await admitted(one, key.request(10n * UNIT)),
    ];
    // 20 are held, and 20 are left beyond both holds.
    const settled = await one.ledger.settle(settlement(key.accountId, dear, 60));
    expect(settled).toMatchObject({ charge: 40n * UNIT });
    expect(await stateOf(key)).toEqual({
      spent: 40n * UNIT,
      held: 10n * UNIT,
      left: 0n,
      resetsAt: null,
      timeZone: null,
    });
    const losses = "SELECT amount FROM posting WHERE group_id = $1 AND reason = 'uncollected'";
    expect((await setup.pool.query(losses, [dear])).rows).toEqual([{ amount: String(20n * UNIT) }]);
    expect(await one.ledger.settle(settlement(key.accountId, running, 10))).toMatchObject({ charge: 10n * UNIT });
    expect(await stateOf(key)).toMatchObject({ spent: 50n * UNIT, held: 0n, left: 0n });
  });

  it("shares what is left among requests that are settled together", async () => {
    const key = await limitedKey({ budget: 50n * UNIT });
    const ids: string[] = [];
    for (let n = 0; n < 4; n += 1) ids.push(await admitted(one, key.request(10n * UNIT)));
    const ends = ids.map((id, n) => one.ledger.settle(settlement(key.accountId, id, n === 0 ? 2 : 30)));
    const charges = (await Promise.all(ends)).map(({ charge }) => charge / UNIT);
    // Together: 2, three holds of 10, and the 10 that were left with the 8 that came free.
    expect(charges.reduce((sum, charge) => sum + charge, 0n)).toBe(50n);
    expect(await stateOf(key)).toMatchObject({ spent: 50n * UNIT, held: 0n, left: 0n });
  });

  it("extends a hold by what is left of it, and no further", async () => {
    const key = await limitedKey({ budget: 30n * UNIT });
    const requestId = await admitted(one, key.request(10n * UNIT));
    const extend = (amount: bigint, leastAmount: bigint) =>
      one.ledger.extend({ accountId: key.accountId, requestId, amount, leastAmount, inputTokens: 1, outputTokens: 0 });
    expect(await extend(25n * UNIT, 20n * UNIT)).toEqual({ outcome: "granted", amount: 25n * UNIT });
    const refused = { outcome: "over_budget", of: "key", period: "total", amount: 25n * UNIT };
    expect(await extend(45n * UNIT, 31n * UNIT)).toMatchObject(refused);
    expect(await extend(45n * UNIT, 26n * UNIT)).toEqual({ outcome: "granted", amount: 30n * UNIT });
    expect(await stateOf(key)).toMatchObject({ held: 30n * UNIT, left: 0n });
    // Requests of other keys cannot free this budget, so the stream does not wait for them; those of the key can.
    const neighbour = await admitted(one, admission(key.accountId, await setup.key(key.accountId), UNIT));
    expect(await extend(45n * UNIT, 31n * UNIT)).toMatchObject({ outcome: "over_budget", othersHold: false });
    await one.ledger.settle(settlement(key.accountId, neighbour, 0));
    await limit(key, 40n * UNIT);
    const sibling = await admitted(one, key.request(10n * UNIT));
    expect(await extend(45n * UNIT, 31n * UNIT)).toMatchObject({ outcome: "over_budget", othersHold: true });
    await one.ledger.settle(settlement(key.accountId, sibling, 0));
    await one.ledger.settle(settlement(key.accountId, requestId, 30));
    expect(await stateOf(key)).toMatchObject({ spent: 30n * UNIT, held: 0n });
  });

  it("is counted again where the version before has recovered a hold without it", async () => {
    const key = await limitedKey({ budget: 100n * UNIT });
    await admitted(one, key.request(40n * UNIT));
    const spoil = () => setup.pool.query("UPDATE api_key SET budget_held = budget_held + 7 WHERE id = $1", [key.keyId]);
    await spoil();
    expect(JSON.stringify(await setup.audit())).toContain(
      "what is held of a key's budget is the sum of its open holds",
    );
    const recount = () =>
      withTransaction(setup.opened.database, (client) => recountOpenRequests(client, key.accountId));
    expect(await recount()).toMatchObject({ isChanged: true });
    expect(await stateOf(key)).toMatchObject({ held: 40n * UNIT });
    expect(await recount()).toMatchObject({ isChanged: false });
    await spoil();
    await limit(key, 90n * UNIT);
    expect(await stateOf(key)).toMatchObject({ held: 40n * UNIT, left: 50n * UNIT });
  });

  it("counts what recovery charges, and what a late settlement adds, up to what is left", async () => {
    const sleeper = await setup.process();
    const key = await limitedKey({ budget: 40n * UNIT });
    const requestId = await admitted(sleeper, key.request(20n * UNIT));
    const none = { amount: 0n, leastAmount: 0n, outputTokens: 0 };
    await sleeper.ledger.extend({ accountId: key.accountId, requestId, inputTokens: 5, ...none });
    await setup.pool.query("UPDATE process SET dead_at = clock_timestamp() WHERE id = $1", [sleeper.lease.processId]);
    expect(await recoverHolds(setup.pool)).toBe(1);
    expect(await stateOf(key)).toMatchObject({ spent: 5n * UNIT, held: 0n, left: 35n * UNIT });
    const late = await sleeper.ledger.settle(settlement(key.accountId, requestId, 60));
    expect(late).toMatchObject({ charge: 40n * UNIT });
    expect(await stateOf(key)).toMatchObject({ spent: 40n * UNIT, held: 0n, left: 0n });
  });

  it("admits nothing and takes nothing back where it was lowered below what is held", async () => {
    const key = await limitedKey({ budget: 100n * UNIT });
    const requestId = await admitted(one, key.request(60n * UNIT));
    await limit(key, 10n * UNIT);
    expect(await stateOf(key)).toMatchObject({ held: 60n * UNIT, left: 0n });
    expect(await one.ledger.admit(key.request(1n))).toMatchObject({ outcome: "over_budget", left: 0n });
    expect(await one.ledger.settle(settlement(key.accountId, requestId, 70))).toMatchObject({ charge: 60n * UNIT });
    expect(await stateOf(key)).toMatchObject({ spent: 60n * UNIT, held: 0n, left: 0n });
    await limit(key, 61n * UNIT);
    expect(await one.ledger.admit(key.request(UNIT))).toMatchObject({ outcome: "granted" });
  });

  it("counts the open requests of a key that gets one, and forgets them where it is taken away", async () => {
    const accountId = await setup.account(1_000n * UNIT);
    const key = { accountId, keyId: await setup.key(accountId) };
    const requestId = await admitted(one, admission(accountId, key.keyId, 40n * UNIT));
    await limit(key, 50n * UNIT, "day");
    expect(await stateOf(key)).toMatchObject({ spent: 0n, held: 40n * UNIT, left: 10n * UNIT });
    await limit(key, null);
    expect(await stateOf(key)).toBeNull();
    await limit(key, 45n * UNIT, "month");
    await one.ledger.settle(settlement(accountId, requestId, 12));
    expect(await stateOf(key)).toMatchObject({ spent: 12n * UNIT, held: 0n, left: 33n * UNIT });
    // Another period starts again; another amount does not.
    await limit(key, 50n * UNIT, "month");
    expect(await stateOf(key)).toMatchObject({ spent: 12n * UNIT });
    await limit(key, 50n * UNIT, "day");
    expect(await stateOf(key)).toMatchObject({ spent: 0n });
  });

  it.each(["day", "month"] as const)("of a %s begins again in the next one, and keeps what is held", async (period) => {
    const key = await limitedKey({ budget: 20n * UNIT, period });
    await one.ledger.settle(settlement(key.accountId, await admitted(one, key.request(15n * UNIT)), 15));
    const open = await admitted(one, key.request(4n * UNIT));
    expect(await one.ledger.admit(key.request(2n * UNIT))).toMatchObject({ outcome: "over_budget", period });
    await setup.pool.query("UPDATE api_key SET budget_start = budget_start - interval '32 days' WHERE id = $1", [
      key.keyId,
    ]);
    const state = await stateOf(key);
    expect(state).toMatchObject({ spent: 0n, held: 4n * UNIT, left: 16n * UNIT });
    expect(state?.resetsAt?.getTime()).toBeGreaterThan(Date.now());
    expect(await one.ledger.admit(key.request(17n * UNIT))).toMatchObject({ outcome: "over_budget", left: 16n * UNIT });
    await one.ledger.settle(settlement(key.accountId, open, 4));
    expect(await stateOf(key)).toMatchObject({ spent: 4n * UNIT, held: 0n, left: 16n * UNIT });
    await admitted(one, key.request(16n * UNIT));
  });

  it.each([
    ["day", "2026-11-26T16:59:59.999Z", "2026-11-25T17:00:00.000Z"],
    ["day", "2026-11-26T17:00:00.000Z", "2026-11-26T17:00:00.000Z"],
    ["month", "2026-11-30T16:59:59.999Z", "2026-10-31T17:00:00.000Z"],
    ["month", "2026-11-30T17:00:00.000Z", "2026-11-30T17:00:00.000Z"],
    ["total", "2026-11-30T17:00:00.000Z", "2020-01-01T00:00:00.000Z"],
  ])("of a %s at %s began at %s: midnight is that of Jakarta", async (period, at, began) => {
    const start = "SELECT budget_start_at($1, '2020-01-01T00:00:00Z', $2::timestamptz) AS start";
    expect((await setup.pool.query(start, [period, at])).rows).toEqual([{ start: new Date(began) }]);
  });

  it("refuses a key that has ended, and models that it may not ask, without a slot", async () => {
    const accountId = await setup.account(1_000n * UNIT);
    const keyId = await setup.key(accountId, 5);
    const set = (more: object) =>
      withTransaction(setup.opened.database, (client) =>
        setKeyLimits(client, { accountId, keyId, limits: { ...NO_LIMITS, ...more } }),
      );
    await set({ allowedModels: ["acme/*", "test/other"] });
    const together = async () => {
      const asked = Array.from({ length: 12 }, () => one.ledger.admit(admission(accountId, keyId, UNIT)));
      return new Set((await Promise.all(asked)).map(({ outcome }) => outcome));
    };
    const ask = (process: TestProcess) => process.ledger.admit(admission(accountId, keyId, UNIT));
    // Alone, and together with others.
    expect(await ask(one)).toEqual({ outcome: "not_allowed" });
    expect(await together()).toEqual(new Set(["not_allowed"]));
    await set({ allowedModels: ["test/*"] });
    expect(await ask(one)).toMatchObject({ outcome: "granted", rate: { remaining: 4 } });
    await set({ expiresAt: new Date(Date.now() + 3_600_000) });
    expect(await Promise.all([ask(one), ask(one)])).toMatchObject([{ outcome: "granted" }, { outcome: "granted" }]);
    await set({ expiresAt: new Date(Date.now() - 1) });
    expect(await ask(one)).toEqual({ outcome: "revoked" });
    expect(await together()).toEqual(new Set(["revoked"]));
  });

  it("is never exceeded, and is what was charged and held, whatever two processes do at the same time", async () => {
    const seed = chooseSeed();
    const random = seededRandom(seed);
    const key = await limitedKey({ budget: 400n * UNIT, balance: 100_000n * UNIT });
    const between = (least: number, most: number): number => least + Math.floor(random() * (most - least + 1));
    const live = async (): Promise<void> => {
      const { ledger } = random() < 0.5 ? one : other;
      const request = key.request(BigInt(between(1, 20)) * UNIT, UNIT);
      if ((await ledger.admit(request)).outcome !== "granted") return;
      const facts = { accountId: key.accountId, requestId: request.requestId, inputTokens: 0, outputTokens: 0 };
      if (random() < 0.5) await ledger.extend({ ...facts, amount: BigInt(between(1, 40)) * UNIT, leastAmount: UNIT });
      if (random() < 0.8) await ledger.settle(settlement(key.accountId, request.requestId, between(0, 30)));
    };
    for (let round = 0; round < 8; round += 1) {
      await Promise.all(Array.from({ length: 25 }, live));
      const { rows } = await setup.pool.query<{ charged: bigint; held: bigint }>(
        `SELECT (SELECT coalesce(sum(charge), 0)::bigint FROM usage_record WHERE account_id = $1) AS charged,
                (SELECT coalesce(sum(amount), 0)::bigint FROM hold WHERE account_id = $1) AS held`,
        [key.accountId],
      );
      const [{ charged, held } = { charged: -1n, held: -1n }] = rows;
      expect(await stateOf(key), `seed ${seed}`).toMatchObject({ spent: charged, held });
      expect(charged + held).toBeLessThanOrEqual(400n * UNIT);
    }
    expect((await stateOf(key))?.left).toBeLessThan(30n * UNIT);
  });
});
