// The budget of a member: decided on the locked row with the balance and the budget of the key, for all keys that the member has made.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { withTransaction } from "../../src/database/transactions.ts";
import type { BudgetPeriod } from "../../src/kernel/key-limit-errors.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { NO_LIMITS } from "../../src/keys/key-limits.ts";
import { readMemberBudget, setMemberBudget } from "../../src/keys/member-budgets.ts";
import { createPlaygroundKeys } from "../../src/keys/playground-key.ts";
import { setKeyLimits } from "../../src/keys/set-key-limits.ts";
import { recountOpenRequests } from "../../src/ledger/account-limits.ts";
import { lockAccount } from "../../src/ledger/account-lock.ts";
import type { AdmissionRequest } from "../../src/ledger/ledger.ts";
import { recoverHolds } from "../../src/ledger/recovery.ts";
import { testBackends } from "../setup/test-database.ts";
import { admission, MoneySetup, settlement, SOUND, type TestProcess } from "./money-setup.ts";
import { chooseSeed, seededRandom } from "./random.ts";

const UNIT = 5_000n; // micro-rupiah of one input token

describe.each(testBackends())("the budget of a member on the %s database", (backend) => {
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

  type Who = { readonly accountId: string; readonly personId: string };
  const limit = ({ accountId, personId }: Who, amount: bigint | null, period: BudgetPeriod = "total") =>
    withTransaction(setup.opened.database, async (client) => {
      await lockAccount(client, accountId);
      await setMemberBudget(client, { accountId, personId, budget: amount === null ? null : { amount, period } });
    });
  const limitKey = (accountId: string, keyId: string, amount: bigint) =>
    withTransaction(setup.opened.database, (client) =>
      setKeyLimits(client, { accountId, keyId, limits: { ...NO_LIMITS, budget: { amount, period: "total" } } }),
    );
  const stateOf = async (who: Who) => (await readMemberBudget(setup.pool, who))?.state ?? null;

  async function keyOf({ accountId, personId }: Who): Promise<string> {
    const keyId = await setup.key(accountId);
    await setup.pool.query("UPDATE api_key SET person_id = $2 WHERE id = $1", [keyId, personId]);
    return keyId;
  }

  /** A member with two keys. */
  async function limitedMember({
    accountId,
    balance = 10_000n * UNIT,
    budget = 100n * UNIT,
    period = "total",
  }: { accountId?: string; balance?: bigint; budget?: bigint; period?: BudgetPeriod } = {}) {
    const who = { accountId: accountId ?? (await setup.account(balance)), personId: uuidv7() };
    const keys = [await keyOf(who), await keyOf(who)] as const;
    await limit(who, budget, period);
    const request = (amount: bigint, { nth = 0, leastAmount }: { nth?: number; leastAmount?: bigint } = {}) =>
      admission(who.accountId, keys[nth % 2] ?? "", amount, leastAmount);
    return { ...who, keys, request };
  }

  async function admitted(process: TestProcess, request: AdmissionRequest): Promise<string> {
    expect(await process.ledger.admit(request)).toMatchObject({ outcome: "granted" });
    return request.requestId;
  }

  it("admits exactly as many of a hundred parallel requests of two keys as it covers, over two processes", async () => {
    const member = await limitedMember({ budget: 37n * UNIT + 4_999n });
    const asked = Array.from({ length: 100 }, (_, n) =>
      // Both keys at both processes.
      (n % 4 < 2 ? one : other).ledger.admit(member.request(UNIT, { nth: n })),
    );
    const outcomes = Map.groupBy(await Promise.all(asked), ({ outcome }) => outcome);
    expect([outcomes.get("granted")?.length, outcomes.get("over_budget")?.length]).toEqual([37, 63]);
    expect(outcomes.get("over_budget")?.[0]).toMatchObject({ of: "member", period: "total", left: 4_999n });
    expect(await stateOf(member)).toEqual({
      spent: 0n,
      held: 37n * UNIT,
      left: 4_999n,
      resetsAt: null,
      timeZone: null,
    });
    expect(await setup.balance(member.accountId)).toMatchObject({ held: 37n * UNIT });
  });

  it("is read behind the lock: of two requests that wait together it admits the one that it covers", async () => {
    const member = await limitedMember({ budget: UNIT });
    const row = await setup.lockRow("account", member.accountId);
    const asked = [one, other].map(({ ledger }, nth) => ledger.admit(member.request(UNIT, { nth })));
    await row.queued(2);
    await row.release();
    expect((await Promise.all(asked)).map(({ outcome }) => outcome).toSorted()).toEqual(["granted", "over_budget"]);
  });

  it("counts a key that was made later, and no key of others", async () => {
    const member = await limitedMember({ budget: 10n * UNIT });
    await admitted(one, member.request(10n * UNIT));
    const later = await keyOf(member);
    const stranger = await limitedMember({ accountId: member.accountId, budget: 3n * UNIT });
    const made = admission(member.accountId, later, UNIT);
    expect(await other.ledger.admit(made)).toMatchObject({ outcome: "over_budget", of: "member" });
    expect(await one.ledger.admit(stranger.request(3n * UNIT))).toMatchObject({ outcome: "granted" });
    const without = admission(member.accountId, await setup.key(member.accountId), 50n * UNIT);
    expect(await one.ledger.admit(without)).toMatchObject({ outcome: "granted" });
  });

  it("counts the playground of the holder, whose key the version of before wrote without a person", async () => {
    const who = { accountId: await setup.account(1_000n * UNIT), personId: uuidv7() };
    const key = await setup.key(who.accountId);
    await setup.pool.query("UPDATE api_key SET is_playground = true WHERE id = $1", [key]);
    await limit(who, 10n * UNIT);
    // One that is open while the key gets its person.
    const open = await admitted(one, admission(who.accountId, key, 4n * UNIT));
    expect(await stateOf(who)).toMatchObject({ held: 0n });

    const nodes = [one, other].map(({ database }) => createPlaygroundKeys(database, async () => {}));
    const used = await Promise.all([...nodes, ...nodes].map((playground) => playground({ ...who, isHolder: true })));
    expect(new Set(used.map(({ keyId }) => keyId))).toEqual(new Set([key]));
    expect(await stateOf(who)).toMatchObject({ held: 4n * UNIT, left: 6n * UNIT });
    const tooMuch = admission(who.accountId, key, 7n * UNIT);
    expect(await one.ledger.admit(tooMuch)).toMatchObject({ outcome: "over_budget", of: "member", left: 6n * UNIT });
    expect(await other.ledger.admit(admission(who.accountId, key, 6n * UNIT))).toMatchObject({ outcome: "granted" });
    await one.ledger.settle(settlement(who.accountId, open, 3));
    expect(await stateOf(who)).toMatchObject({ held: 6n * UNIT, spent: 3n * UNIT });
  });

  it("counts the same person in another account apart, also in one group of requests", async () => {
    const member = await limitedMember({ budget: 5n * UNIT });
    const elsewhere = { accountId: await setup.account(1_000n * UNIT), personId: member.personId };
    const key = await keyOf(elsewhere);
    await limit(elsewhere, 7n * UNIT);
    const asked = Array.from({ length: 20 }, (_, n) =>
      one.ledger.admit(n % 2 === 0 ? member.request(UNIT, { nth: n / 2 }) : admission(elsewhere.accountId, key, UNIT)),
    );
    await Promise.all(asked);
    expect(await stateOf(member)).toMatchObject({ held: 5n * UNIT, left: 0n });
    expect(await stateOf(elsewhere)).toMatchObject({ held: 7n * UNIT, left: 0n });
  });

  it("grants what is left of the tighter one of the budgets of member and key", async () => {
    const member = await limitedMember({ budget: 100n * UNIT });
    await limitKey(member.accountId, member.keys[0], 30n * UNIT);
    const wide = member.request(150n * UNIT, { leastAmount: 20n * UNIT });
    expect(await one.ledger.admit(wide)).toMatchObject({ outcome: "granted", amount: 30n * UNIT });
    await one.ledger.settle(settlement(member.accountId, wide.requestId, 30));
    expect(await one.ledger.admit(member.request(UNIT))).toMatchObject({ outcome: "over_budget", of: "key" });
    const second = member.request(150n * UNIT, { nth: 1, leastAmount: 20n * UNIT });
    expect(await one.ledger.admit(second)).toMatchObject({ outcome: "granted", amount: 70n * UNIT });
    expect(await stateOf(member)).toMatchObject({ spent: 30n * UNIT, held: 70n * UNIT, left: 0n });
    await one.ledger.settle(settlement(member.accountId, second.requestId, 1));
    expect(await stateOf(member)).toMatchObject({ spent: 31n * UNIT, held: 0n, left: 69n * UNIT });
  });

  it("leaves what a request costs beyond its hold and the budget to the operator", async () => {
    const member = await limitedMember({ budget: 50n * UNIT });
    const [dear, running] = [
      await admitted(one, member.request(20n * UNIT)),
      await admitted(one, member.request(10n * UNIT, { nth: 1 })),
    ];
    // 20 are held, and 20 are left beyond both holds.
    const settled = await one.ledger.settle(settlement(member.accountId, dear, 60));
    expect(settled).toMatchObject({ charge: 40n * UNIT });
    expect(await stateOf(member)).toEqual({
      spent: 40n * UNIT,
      held: 10n * UNIT,
      left: 0n,
      resetsAt: null,
      timeZone: null,
    });
    const losses = "SELECT amount FROM posting WHERE group_id = $1 AND reason = 'uncollected'";
    expect((await setup.pool.query(losses, [dear])).rows).toEqual([{ amount: String(20n * UNIT) }]);
    expect(await one.ledger.settle(settlement(member.accountId, running, 10))).toMatchObject({ charge: 10n * UNIT });
    expect(await stateOf(member)).toMatchObject({ spent: 50n * UNIT, held: 0n, left: 0n });
  });

  it("shares what is left among requests of its keys that are settled together", async () => {
    const member = await limitedMember({ budget: 50n * UNIT });
    // The tighter budget of one key is kept as well.
    await limitKey(member.accountId, member.keys[1], 25n * UNIT);
    const ids: string[] = [];
    for (let n = 0; n < 4; n += 1) ids.push(await admitted(one, member.request(10n * UNIT, { nth: n })));
    const ends = ids.map((id, n) => one.ledger.settle(settlement(member.accountId, id, n === 0 ? 2 : 30)));
    const charges = (await Promise.all(ends)).map(({ charge }) => charge / UNIT);
    expect(charges.reduce((sum, charge) => sum + charge, 0n)).toBe(50n);
    expect((charges[1] ?? 0n) + (charges[3] ?? 0n)).toBeLessThanOrEqual(25n);
    expect(await stateOf(member)).toMatchObject({ spent: 50n * UNIT, held: 0n, left: 0n });
  });

  it("extends a hold by what is left of it, and no further", async () => {
    const member = await limitedMember({ budget: 30n * UNIT });
    const requestId = await admitted(one, member.request(10n * UNIT));
    const extend = (amount: bigint, leastAmount: bigint) =>
      one.ledger.extend({
        accountId: member.accountId,
        requestId,
        amount,
        leastAmount,
        inputTokens: 1,
        outputTokens: 0,
      });
    const refused = { outcome: "over_budget", of: "member" };
    expect(await extend(25n * UNIT, 20n * UNIT)).toEqual({ outcome: "granted", amount: 25n * UNIT });
    expect(await extend(45n * UNIT, 31n * UNIT)).toMatchObject({
      ...refused,
      period: "total",
      amount: 25n * UNIT,
      othersHold: false,
    });
    expect(await extend(45n * UNIT, 26n * UNIT)).toEqual({ outcome: "granted", amount: 30n * UNIT });
    expect(await stateOf(member)).toMatchObject({ held: 30n * UNIT, left: 0n });
    await limit(member, 40n * UNIT);
    // A request of another key of the member can free this budget.
    const sibling = await admitted(one, member.request(10n * UNIT, { nth: 1 }));
    expect(await extend(45n * UNIT, 31n * UNIT)).toMatchObject({ ...refused, othersHold: true });
    await one.ledger.settle(settlement(member.accountId, sibling, 0));
    await one.ledger.settle(settlement(member.accountId, requestId, 30));
    expect(await stateOf(member)).toMatchObject({ spent: 30n * UNIT, held: 0n });
  });

  it("is counted again where the version before has recovered a hold without it", async () => {
    const member = await limitedMember();
    await admitted(one, member.request(40n * UNIT));
    const spoil = () =>
      setup.pool.query("UPDATE member_budget SET budget_held = budget_held + 7 WHERE person_id = $1", [
        member.personId,
      ]);
    await spoil();
    expect(JSON.stringify(await setup.audit())).toContain("what is held of a member's budget is the sum");
    const recount = () =>
      withTransaction(setup.opened.database, (client) => recountOpenRequests(client, member.accountId));
    expect(await recount()).toMatchObject({ isChanged: true });
    expect(await stateOf(member)).toMatchObject({ held: 40n * UNIT });
    expect(await recount()).toMatchObject({ isChanged: false });
    await spoil();
    await limit(member, 90n * UNIT);
    expect(await stateOf(member)).toMatchObject({ held: 40n * UNIT, left: 50n * UNIT });
  });

  it("counts what recovery charges, and what a late settlement adds, up to what is left", async () => {
    const sleeper = await setup.process();
    const member = await limitedMember({ budget: 40n * UNIT });
    const requestId = await admitted(sleeper, member.request(20n * UNIT));
    const none = { amount: 0n, leastAmount: 0n, outputTokens: 0 };
    await sleeper.ledger.extend({ accountId: member.accountId, requestId, inputTokens: 5, ...none });
    await setup.pool.query("UPDATE process SET dead_at = clock_timestamp() WHERE id = $1", [sleeper.lease.processId]);
    expect(await recoverHolds(setup.pool)).toBe(1);
    expect(await stateOf(member)).toMatchObject({ spent: 5n * UNIT, held: 0n, left: 35n * UNIT });
    const late = await sleeper.ledger.settle(settlement(member.accountId, requestId, 60));
    expect(late).toMatchObject({ charge: 40n * UNIT });
    expect(await stateOf(member)).toMatchObject({ spent: 40n * UNIT, held: 0n, left: 0n });
  });

  it("admits nothing and takes nothing back where it was lowered below what is held", async () => {
    const member = await limitedMember({ budget: 100n * UNIT });
    const requestId = await admitted(one, member.request(60n * UNIT));
    await limit(member, 10n * UNIT);
    expect(await stateOf(member)).toMatchObject({ held: 60n * UNIT, left: 0n });
    const next = () => one.ledger.admit(member.request(1n, { nth: 1 }));
    expect(await next()).toMatchObject({ outcome: "over_budget", of: "member", left: 0n });
    expect(await one.ledger.settle(settlement(member.accountId, requestId, 70))).toMatchObject({ charge: 60n * UNIT });
    expect(await stateOf(member)).toMatchObject({ spent: 60n * UNIT, held: 0n, left: 0n });
    await limit(member, 61n * UNIT);
    expect(await next()).toMatchObject({ outcome: "granted" });
  });

  it("counts the open requests of a member who gets one, and forgets them where it is taken away", async () => {
    const who = { accountId: await setup.account(1_000n * UNIT), personId: uuidv7() };
    const [first, second] = [await keyOf(who), await keyOf(who)];
    const requestId = await admitted(one, admission(who.accountId, first, 40n * UNIT));
    await admitted(one, admission(who.accountId, second, 2n * UNIT));
    await limit(who, 50n * UNIT, "day");
    expect(await stateOf(who)).toMatchObject({ spent: 0n, held: 42n * UNIT, left: 8n * UNIT });
    await limit(who, null);
    expect(await stateOf(who)).toBeNull();
    await admitted(one, admission(who.accountId, second, 100n * UNIT));
    await limit(who, 150n * UNIT, "month");
    await one.ledger.settle(settlement(who.accountId, requestId, 12));
    expect(await stateOf(who)).toMatchObject({ spent: 12n * UNIT, held: 102n * UNIT, left: 36n * UNIT });
    // Another period starts again; another amount does not.
    await limit(who, 140n * UNIT, "month");
    expect(await stateOf(who)).toMatchObject({ spent: 12n * UNIT });
    await limit(who, 150n * UNIT, "day");
    expect(await stateOf(who)).toMatchObject({ spent: 0n, held: 102n * UNIT });
  });

  it.each(["day", "month"] as const)("of a %s begins again in the next one, and keeps what is held", async (period) => {
    const member = await limitedMember({ budget: 20n * UNIT, period });
    const settle = (id: string, tokens: number) => one.ledger.settle(settlement(member.accountId, id, tokens));
    await settle(await admitted(one, member.request(15n * UNIT)), 15);
    const open = await admitted(one, member.request(4n * UNIT, { nth: 1 }));
    const refused = { outcome: "over_budget", of: "member", period };
    expect(await one.ledger.admit(member.request(2n * UNIT))).toMatchObject(refused);
    // Set in a period that has ended since.
    await setup.pool.query(
      "UPDATE member_budget SET budget_start = budget_start - interval '32 days' WHERE person_id = $1",
      [member.personId],
    );
    const state = await stateOf(member);
    expect(state).toMatchObject({ spent: 0n, held: 4n * UNIT, left: 16n * UNIT });
    expect(state?.resetsAt?.getTime()).toBeGreaterThan(Date.now());
    // Alone, and together with others.
    const asked = Array.from({ length: 5 }, (_, nth) => one.ledger.admit(member.request(17n * UNIT, { nth })));
    for (const each of await Promise.all(asked)) expect(each).toMatchObject({ ...refused, left: 16n * UNIT });
    await settle(open, 4);
    expect(await stateOf(member)).toMatchObject({ spent: 4n * UNIT, held: 0n, left: 16n * UNIT });
    await admitted(one, member.request(16n * UNIT));
  });

  it.each([
    ["day", "2026-11-26T16:59:59.999999Z", 3],
    ["day", "2026-11-26T17:00:00Z", 13],
    ["month", "2026-11-30T16:59:59.999999Z", 3],
    ["month", "2026-11-30T17:00:00Z", 13],
    ["total", "2027-11-30T17:00:00Z", 3],
  ])("of a %s has at %s so much left of 20: midnight is that of Jakarta", async (period, at, left) => {
    const text = "SELECT budget_left(20, $1, '2026-11-26T08:00:00Z', 10, 7, $2::timestamptz)::int AS left";
    expect((await setup.pool.query(text, [period, at])).rows).toEqual([{ left }]);
  });

  it("is counted on its account, where requests see whether to look for one", async () => {
    const accountId = await setup.account(100n * UNIT);
    const counted = "SELECT member_budgets FROM account WHERE id = $1";
    expect((await setup.pool.query(counted, [accountId])).rows).toEqual([{ member_budgets: 0 }]);
    const who = { accountId, personId: uuidv7() };
    await limit(who, UNIT);
    await limit(who, 2n * UNIT);
    expect((await setup.pool.query(counted, [accountId])).rows).toEqual([{ member_budgets: 1 }]);
    await limit(who, null);
    expect((await setup.pool.query(counted, [accountId])).rows).toEqual([{ member_budgets: 0 }]);
  });

  it("is never exceeded, and is what was charged and held, whatever two processes do at the same time", async () => {
    const seed = chooseSeed();
    const random = seededRandom(seed);
    const member = await limitedMember({ budget: 400n * UNIT, balance: 100_000n * UNIT });
    await limitKey(member.accountId, member.keys[0], 300n * UNIT);
    const between = (least: number, most: number): number => least + Math.floor(random() * (most - least + 1));
    const live = async (): Promise<void> => {
      const { ledger } = random() < 0.5 ? one : other;
      const request = member.request(BigInt(between(1, 20)) * UNIT, { nth: between(0, 1), leastAmount: UNIT });
      if ((await ledger.admit(request)).outcome !== "granted") return;
      const facts = { accountId: member.accountId, requestId: request.requestId, inputTokens: 0, outputTokens: 0 };
      if (random() < 0.5) await ledger.extend({ ...facts, amount: BigInt(between(1, 40)) * UNIT, leastAmount: UNIT });
      if (random() < 0.8) await ledger.settle(settlement(member.accountId, request.requestId, between(0, 30)));
    };
    for (let round = 0; round < 8; round += 1) {
      await Promise.all(Array.from({ length: 25 }, live));
      const { rows } = await setup.pool.query<{ charged: bigint; held: bigint }>(
        `SELECT (SELECT coalesce(sum(charge), 0)::bigint FROM usage_record WHERE account_id = $1) AS charged,
                (SELECT coalesce(sum(amount), 0)::bigint FROM hold WHERE account_id = $1) AS held`,
        [member.accountId],
      );
      const [{ charged, held } = { charged: -1n, held: -1n }] = rows;
      expect(await stateOf(member), `seed ${seed}`).toMatchObject({ spent: charged, held });
      expect(charged + held).toBeLessThanOrEqual(400n * UNIT);
    }
    expect((await stateOf(member))?.left).toBeLessThan(30n * UNIT);
  });
});
