import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { testBackends } from "../setup/test-database.ts";
import { admission, MoneySetup, settlement, SOUND, type TestProcess } from "./money-setup.ts";

const UNIT = 5_000n; // micro-rupiah of one input token

describe.each(testBackends())("settlement on the %s database", (backend) => {
  let setup: MoneySetup;
  let process: TestProcess;
  beforeAll(async () => {
    setup = await MoneySetup.create(backend);
    process = await setup.process();
  });
  afterAll(() => setup.close());

  async function held(balance: bigint, amounts: readonly bigint[]) {
    const account = await setup.account(balance);
    const key = await setup.key(account);
    const requests = amounts.map((amount) => admission(account, key, amount));
    for (const request of requests) expect(await process.ledger.admit(request)).toMatchObject({ outcome: "granted" });
    return { account, key, ids: requests.map(({ requestId }) => requestId) };
  }

  it("captures the cost and releases the rest of the hold", async () => {
    const { account, ids } = await held(100n * UNIT, [40n * UNIT]);
    expect(await process.ledger.settle(settlement(account, ids[0] ?? "", 7))).toEqual({
      cost: 7n * UNIT,
      charge: 7n * UNIT,
    });
    expect(await setup.balance(account)).toEqual({ posted: 93n * UNIT, held: 0n, available: 93n * UNIT });
  });

  it("takes above the hold only available money, and posts the rest as our loss", async () => {
    const { account, ids } = await held(100n * UNIT, [40n * UNIT, 30n * UNIT]);
    expect(await process.ledger.settle(settlement(account, ids[0] ?? "", 500))).toEqual({
      cost: 500n * UNIT,
      charge: 70n * UNIT,
    });
    expect(await setup.balance(account)).toEqual({ posted: 30n * UNIT, held: 30n * UNIT, available: 0n });
    const { rows } = await setup.pool.query("SELECT amount, reason FROM posting WHERE id = $1", [ids[0]]);
    expect(rows).toEqual([{ amount: String(430n * UNIT), reason: "uncollected" }]);
  });

  it("charges a batch as if its members came one after the other, those that free money first", async () => {
    // More than a lane sends as single statements.
    const tokens = [600, 20, 700, 30, 50];
    const hold = 100n * UNIT;
    const { account, ids } = await held(
      1_000n * UNIT,
      tokens.map(() => hold),
    );
    const { replays } = process.ledger.statistics();
    const settled = await Promise.all(
      ids.map((id, index) => process.ledger.settle(settlement(account, id, tokens[index] ?? 0))),
    );
    expect(settled.map(({ charge }) => charge / UNIT)).toEqual([600n, 20n, 300n, 30n, 50n]);
    // The group's statement was right: the database refuses its wrong rows, and its members run again one by one.
    expect(process.ledger.statistics()).toMatchObject({ replays });
    expect(await setup.balance(account)).toEqual({ posted: 0n, held: 0n, available: 0n });
  });

  it("settles once, however often and in whichever process it is called", async () => {
    const { account, ids } = await held(100n * UNIT, [40n * UNIT]);
    const other = await setup.process();
    const id = ids[0] ?? "";
    const attempts = [process, process, other, other].map(({ ledger }, index) =>
      ledger.settle(settlement(account, id, 10 + index)),
    );
    const settled = await Promise.all(attempts);
    expect(new Set(settled.map(({ charge }) => charge)).size).toBe(1);
    expect(await process.ledger.settle(settlement(account, id, 39))).toEqual(settled[0]);
    const { rows } = await setup.pool.query("SELECT charge FROM usage_record WHERE request_id = $1", [id]);
    expect(rows).toEqual([{ charge: settled[0]?.charge }]);
  });

  it("keeps on the record everything that recomputes it", async () => {
    const { account, key, ids } = await held(100n * UNIT, [40n * UNIT]);
    const id = ids[0] ?? "";
    await process.ledger.settle({
      ...settlement(account, id, 3),
      upstreamRequestId: "up-1",
      firstByteMs: 12,
      streamed: true,
    });
    const { rows } = await setup.pool.query("SELECT * FROM usage_record WHERE request_id = $1", [id]);
    expect(rows[0]).toMatchObject({
      account_id: account,
      key_id: key,
      model: "test/model",
      input_tokens_uncached: 3,
      input_price: 5_000_000_000n,
      cache_hit_price: 950_000_000n,
      upstream_request_id: "up-1",
      first_byte_ms: 12,
      streamed: true,
      clamped: false,
    });
  });

  it("does not let a settlement it cannot write fail its neighbours", async () => {
    const { account, ids } = await held(100n * UNIT, [10n * UNIT, 10n * UNIT, 10n * UNIT]);
    const poisoned = { ...settlement(account, ids[1] ?? "", 2), inputTokensUncached: -1 };
    const [first, second, third] = await Promise.allSettled([
      process.ledger.settle(settlement(account, ids[0] ?? "", 1)),
      process.ledger.settle(poisoned),
      process.ledger.settle(settlement(account, ids[2] ?? "", 3)),
    ]);
    expect(first).toMatchObject({ status: "fulfilled", value: { charge: UNIT } });
    expect(second).toMatchObject({ status: "rejected", reason: { code: "23514" } });
    expect(third).toMatchObject({ status: "fulfilled", value: { charge: 3n * UNIT } });
    await process.ledger.release({ accountId: account, requestId: ids[1] ?? "" });
  });

  it.each([1, 5])(
    "releases a hold whose request has its record already, and charges nothing more (%i at once)",
    async (parallel) => {
      const account = await setup.account(1_000n * UNIT);
      const key = await setup.key(account);
      const requests = Array.from({ length: parallel }, () => admission(account, key, 40n * UNIT));
      // As a lost admission that is written after the settlement of its request.
      for (const round of [7, 9]) {
        await Promise.all(requests.map((request) => process.ledger.admit(request)));
        const settled = await Promise.all(
          requests.map(({ requestId }) => process.ledger.settle(settlement(account, requestId, round))),
        );
        expect(settled).toEqual(requests.map(() => ({ cost: 7n * UNIT, charge: 7n * UNIT })));
      }
      const posted = 1_000n * UNIT - 7n * UNIT * BigInt(parallel);
      expect(await setup.balance(account)).toEqual({ posted, held: 0n, available: posted });
    },
  );

  it("refuses to settle a request that never had a hold", async () => {
    const account = await setup.account(100n);
    const key = await setup.key(account);
    await expect(process.ledger.settle(settlement(account, admission(account, key, 1n).requestId, 1))).rejects.toThrow(
      "a request without a hold has been settled",
    );
  });

  it("keeps the books in order through all of this", async () => {
    expect(await setup.audit()).toEqual(SOUND);
  });
});
