// What an operator has at hand in an incident: a stop that counts on every node and survives restarts, a cap on what a wallet sends
// on a day, and a frozen account whose transfers wait.

import type { Hex } from "viem";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { WAITS_FOR_CAP } from "../../../src/merchant/payouts/choose-transfers.ts";
import { WAITS_FOR_START } from "../../../src/merchant/payouts/waiting-transfers.ts";
import { listStops } from "../../../src/merchant/payouts/payout-stops.ts";
import { freezeAccount, unfreezeAccount } from "../../../src/operator/commands/accounts.ts";
import { startPayouts, stopPayouts } from "../../../src/operator/commands/payouts.ts";
import { EvmSetup, TOTAL } from "./evm-setup.ts";
import { expectSoundBooks } from "./ordered.ts";

describe("payouts", () => {
  let setup: EvmSetup;
  beforeAll(async () => {
    setup = await EvmSetup.open();
  });
  afterEach(async () => {
    setup.troubles.length = 0;
    // Of a test that has failed.
    for (const stop of await listStops(setup.database.pool)) await startPayouts(by(), stop);
  });
  afterAll(() => setup.close());

  const by = () => ({ database: setup.database, operator: "test" });
  const status = async (transferId: string): Promise<string> => (await setup.merchant.transfer(transferId)).status;
  const received = async (to: Hex): Promise<number> => (await setup.anvil.tokenTransfersTo(setup.token, to)).length;

  it.each([
    ["of all wallets", { chain: "", address: "" }],
    ["of a chain", { chain: "ethereum", address: "" }],
    ["of a wallet", { chain: "ethereum", address: "own" }],
  ])("%s stop while an operator says so, on every engine, and go on afterwards", async (_which, { chain, address }) => {
    const scope = { chain, address: address === "own" ? setup.hot.address : "", reason: "a pair was stolen" };
    const to = await setup.recipient();
    expect([await stopPayouts(by(), scope), await stopPayouts(by(), scope)]).toEqual([true, false]);
    const transferId = await setup.orderTokens(to);
    // Another process, or the same after a restart.
    await setup.engine().round();
    await setup.anvil.mine();
    await setup.engine().round();
    expect(await setup.merchant.transfer(transferId)).toMatchObject({ status: "WAITING", reason: WAITS_FOR_START });
    expect(await setup.merchant.history(transferId)).toEqual([]);
    expect(await listStops(setup.database.pool)).toMatchObject([{ chain, operator: "test", reason: scope.reason }]);
    expect([await startPayouts(by(), scope), await startPayouts(by(), scope)]).toEqual([true, false]);
    await setup.runToEnd(setup.engine(), [transferId]);
    expect(await received(to)).toBe(1);
    const { rows } = await setup.database.pool.query(
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
    for (const scope of scopes) await stopPayouts(by(), scope);
    const transferId = await setup.orderTokens(await setup.recipient());
    await setup.runToEnd(setup.engine(), [transferId]);
    expect(await status(transferId)).toBe("CONFIRMED");
    for (const scope of scopes) await startPayouts(by(), scope);
  });

  it("that are signed and that the network has lost are not handed over again while they are stopped", async () => {
    const all = { chain: "", address: "", reason: "a wrong list of addresses" };
    const to = await setup.recipient();
    const transferId = await setup.orderTokens(to);
    await setup.engine().round();
    const [hash] = await setup.pooled();
    await stopPayouts(by(), all);
    await setup.anvil.rpc("anvil_dropTransaction", [hash]);
    await setup.engine({ policy: { stuckAfterMs: 0 } }).round();
    expect(await setup.pooled()).toEqual([]);
    expect((await setup.merchant.history(transferId)).flatMap(({ attempts }) => attempts)).toHaveLength(1);
    await startPayouts(by(), all);
    await setup.engine().round();
    expect(await setup.pooled()).toEqual([hash]);
    await setup.runToEnd(setup.engine(), [transferId]);
    expect(await received(to)).toBe(1);
  });

  it("wait above the day's cap of their currency with that reason, and go on with a higher one", async () => {
    const capped = (units: bigint) => setup.engine({ policy: { dailyCaps: { "USDT/6": units } } });
    const [first, second, small] = [await setup.recipient(), await setup.recipient(), await setup.recipient()];
    const cap = 8_000_000n;
    const before = await setup.available();
    const ids = [await setup.orderTokens(first), await setup.orderTokens(second), await setup.orderTokens(small, "3")];
    await capped(cap).round();
    await setup.anvil.mine();
    await capped(cap).round();
    const [, waiting = "", passed = ""] = ids;
    expect(await setup.merchant.transfer(waiting)).toMatchObject({ status: "WAITING", reason: WAITS_FOR_CAP });
    expect(await setup.merchant.statuses(waiting)).toEqual(["PENDING", "WAITING"]);
    expect([await received(first), await received(second), await status(passed)]).toEqual([1, 0, "SUBMITTED"]);
    expect(setup.troubles).toContainEqual({ kind: "daily_cap", chain: "ethereum", currency: "USDT" });
    // A day that is over counts for nothing.
    await setup.database.pool.query("UPDATE wallet_day SET day = day - 1");
    await setup.runToEnd(capped(cap), ids);
    expect([await received(first), await received(second), await received(small)]).toEqual([1, 1, 1]);
    expect(before - (await setup.available())).toBeCloseTo(2 * TOTAL + 3.9, 6);
  });

  it("of two engines together stay within the cap", async () => {
    await setup.database.pool.query("UPDATE wallet_day SET day = day - 1");
    const dailyCaps = { "USDT/6": 12_000_000n };
    const engines = [setup.engine({ policy: { dailyCaps } }), setup.engine({ policy: { dailyCaps } })];
    const ids = [];
    for (let each = 0; each < 4; each += 1) ids.push(await setup.orderTokens(await setup.recipient()));
    await Promise.all(engines.map((each) => each.round()));
    await Promise.all(engines.map((each) => each.round()));
    const chosen = await Promise.all(ids.map(async (id) => (await setup.merchant.history(id)).length));
    expect(chosen.reduce((sum, each) => sum + each, 0)).toBe(2);
    await setup.runToEnd(setup.engine(), ids);
  });

  it("of a frozen account wait until it is not frozen any more", async () => {
    const accountId = await setup.merchant.accountId();
    const to = await setup.recipient();
    const transferId = await setup.orderTokens(to);
    await freezeAccount(by(), { accountId, reason: "a stolen pair" });
    await setup.engine().round();
    await setup.engine().round();
    const { rows } = await setup.database.pool.query("SELECT status, reason FROM transfer WHERE id = $1::uuid", [
      transferId,
    ]);
    expect(rows).toEqual([{ status: "WAITING", reason: "The account is frozen." }]);
    expect(await setup.merchant.history(transferId)).toEqual([]);
    await unfreezeAccount(by(), { accountId, reason: "renewed" });
    await setup.runToEnd(setup.engine(), [transferId]);
    expect(await received(to)).toBe(1);
    await expectSoundBooks(setup.database);
  });
});
