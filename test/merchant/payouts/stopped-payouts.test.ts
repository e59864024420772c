// What an operator has at hand in an incident: a stop that counts on every node and survives restarts, a cap on what a wallet sends
// on a day, and a frozen account whose transfers wait.

import type { Hex } from "viem";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { WAITS_FOR_CAP } from "../../../src/merchant/payouts/choose-transfers.ts";
import { WAITS_FOR_START } from "../../../src/merchant/payouts/waiting-transfers.ts";
import { listStops } from "../../../src/merchant/payouts/payout-stops.ts";
import { orderFreeze, orderUnfreeze } from "../../../src/operator/commands/account-orders.ts";
import { orderStart, orderStop } from "../../../src/operator/commands/payout-orders.ts";
import { EvmWorld, TOTAL } from "./evm-world.ts";
import { expectSoundBooks } from "./ordered.ts";

describe("payouts", () => {
  let world: EvmWorld;
  beforeAll(async () => {
    world = await EvmWorld.open();
  });
  afterEach(async () => {
    world.troubles.length = 0;
    // Of a test that has failed.
    for (const stop of await listStops(world.database.pool)) await orderStart(by(), stop);
  });
  afterAll(() => world.close());

  const by = () => ({ database: world.database, operator: "test" });
  const status = async (transferId: string): Promise<string> => (await world.merchant.transfer(transferId)).status;
  const received = async (to: Hex): Promise<number> => (await world.anvil.tokenTransfersTo(world.token, to)).length;

  it.each([
    ["of all wallets", { chain: "", address: "" }],
    ["of a chain", { chain: "ethereum", address: "" }],
    ["of a wallet", { chain: "ethereum", address: "own" }],
  ])("%s stop while an operator says so, on every engine, and go on afterwards", async (_which, { chain, address }) => {
    const scope = { chain, address: address === "own" ? world.hot.address : "", reason: "a pair was stolen" };
    const to = await world.recipient();
    expect([await orderStop(by(), scope), await orderStop(by(), scope)]).toEqual([true, false]);
    const transferId = await world.orderTokens(to);
    // Another process, or the same after a restart.
    await world.engine().round();
    await world.anvil.mine();
    await world.engine().round();
    expect(await world.merchant.transfer(transferId)).toMatchObject({ status: "WAITING", reason: WAITS_FOR_START });
    expect(await world.merchant.history(transferId)).toEqual([]);
    expect(await listStops(world.database.pool)).toMatchObject([{ chain, operator: "test", reason: scope.reason }]);
    expect([await orderStart(by(), scope), await orderStart(by(), scope)]).toEqual([true, false]);
    await world.runToEnd(world.engine(), [transferId]);
    expect(await received(to)).toBe(1);
    const { rows } = await world.database.pool.query(
      "SELECT action, reason FROM operator_action WHERE action LIKE 'payout st%' ORDER BY id DESC LIMIT 2",
    );
    expect(rows).toEqual([
      { action: "payout start", reason: scope.reason },
      { action: "payout stop", reason: scope.reason },
    ]);
  });

  it("of another chain or wallet that are stopped keep nothing here", async () => {
    const scopes = [
      { chain: "bsc", address: "", reason: "r" },
      { chain: "ethereum", address: `0x${"1".repeat(40)}`, reason: "r" },
    ];
    for (const scope of scopes) await orderStop(by(), scope);
    const transferId = await world.orderTokens(await world.recipient());
    await world.runToEnd(world.engine(), [transferId]);
    expect(await status(transferId)).toBe("CONFIRMED");
    for (const scope of scopes) await orderStart(by(), scope);
  });

  it("that are signed and that the network has lost are not handed over again while they are stopped", async () => {
    const all = { chain: "", address: "", reason: "a wrong list of addresses" };
    const to = await world.recipient();
    const transferId = await world.orderTokens(to);
    await world.engine().round();
    const [hash] = await world.pooled();
    await orderStop(by(), all);
    await world.anvil.rpc("anvil_dropTransaction", [hash]);
    await world.engine({ policy: { stuckAfterMs: 0 } }).round();
    expect(await world.pooled()).toEqual([]);
    expect((await world.merchant.history(transferId)).flatMap(({ attempts }) => attempts)).toHaveLength(1);
    await orderStart(by(), all);
    await world.engine().round();
    expect(await world.pooled()).toEqual([hash]);
    await world.runToEnd(world.engine(), [transferId]);
    expect(await received(to)).toBe(1);
  });

  it("wait above the day's cap of their currency with that reason, and go on with a higher one", async () => {
    const capped = (units: bigint) => world.engine({ policy: { dailyCaps: { "USDT/6": units } } });
    const [first, second, small] = [await world.recipient(), await world.recipient(), await world.recipient()];
    const cap = 8_000_000n;
    const before = await world.available();
    const ids = [await world.orderTokens(first), await world.orderTokens(second), await world.orderTokens(small, "3")];
    await capped(cap).round();
    await world.anvil.mine();
    await capped(cap).round();
    const [, waiting = "", passed = ""] = ids;
    expect(await world.merchant.transfer(waiting)).toMatchObject({ status: "WAITING", reason: WAITS_FOR_CAP });
    expect(await world.merchant.statuses(waiting)).toEqual(["PENDING", "WAITING"]);
    expect([await received(first), await received(second), await status(passed)]).toEqual([1, 0, "SUBMITTED"]);
    expect(world.troubles).toContainEqual({ kind: "daily_cap", chain: "ethereum", currency: "USDT" });
    // A day that is over counts for nothing.
    await world.database.pool.query("UPDATE wallet_day SET day = day - 1");
    await world.runToEnd(capped(cap), ids);
    expect([await received(first), await received(second), await received(small)]).toEqual([1, 1, 1]);
    expect(before - (await world.available())).toBeCloseTo(2 * TOTAL + 3.9, 6);
  });

  it("of two engines together stay within the cap", async () => {
    await world.database.pool.query("UPDATE wallet_day SET day = day - 1");
    const dailyCaps = { "USDT/6": 12_000_000n };
    const engines = [world.engine({ policy: { dailyCaps } }), world.engine({ policy: { dailyCaps } })];
    const ids = [];
    for (let each = 0; each < 4; each += 1) ids.push(await world.orderTokens(await world.recipient()));
    await Promise.all(engines.map((each) => each.round()));
    await Promise.all(engines.map((each) => each.round()));
    const chosen = await Promise.all(ids.map(async (id) => (await world.merchant.history(id)).length));
    expect(chosen.reduce((sum, each) => sum + each, 0)).toBe(2);
    await world.runToEnd(world.engine(), ids);
  });

  it("of a frozen account wait until it is not frozen any more", async () => {
    const accountId = await world.merchant.accountId();
    const to = await world.recipient();
    const transferId = await world.orderTokens(to);
    await orderFreeze(by(), { accountId, reason: "a stolen pair" });
    await world.engine().round();
    await world.engine().round();
    const { rows } = await world.database.pool.query("SELECT status, reason FROM transfer WHERE id = $1::uuid", [
      transferId,
    ]);
    expect(rows).toEqual([{ status: "WAITING", reason: "The account is frozen." }]);
    expect(await world.merchant.history(transferId)).toEqual([]);
    await orderUnfreeze(by(), { accountId, reason: "renewed" });
    await world.runToEnd(world.engine(), [transferId]);
    expect(await received(to)).toBe(1);
    await expectSoundBooks(world.database);
  });
});
