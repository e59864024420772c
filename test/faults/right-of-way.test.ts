// A flood of admissions, and the settlements that have to get through it.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MAX_GROUP_SIZE, MAX_WAITING_ADMISSIONS } from "../../src/ledger/group-commit/lane-queue.ts";
import { admission, MoneySetup, settlement, SOUND, type TestProcess } from "../money/money-setup.ts";
import { testBackends } from "../setup/test-database.ts";

describe.each(testBackends())("a flood of admissions to the %s database", (backend) => {
  let setup: MoneySetup;
  let process: TestProcess;
  beforeAll(async () => {
    setup = await MoneySetup.create(backend);
    process = await setup.process();
  });
  afterAll(() => setup.close());

  /** A request that is granted and waits to be settled. */
  async function granted() {
    const account = await setup.account(1_000_000n);
    const request = admission(account, await setup.key(account), 100_000n);
    await process.ledger.admit(request);
    return () => process.ledger.settle(settlement(account, request.requestId, 1));
  }
  /** Sends admissions at once; `answered` counts those that have their answer. */
  async function flood({ size, balance }: { size: number; balance: bigint }) {
    const account = await setup.account(balance);
    const key = await setup.key(account);
    const progress = { answered: 0 };
    const all = Array.from({ length: size }, async () => {
      const outcome = await process.ledger.admit(admission(account, key, 1n)).then(
        (decision) => decision.outcome,
        (error: { code?: string }) => error.code,
      );
      progress.answered += 1;
      return outcome;
    });
    return { progress, outcomes: Promise.all(all) };
  }

  it("fills the queue of admissions and not that of settlements, which go first", async () => {
    const settle = await granted();
    const beyond = 500;
    const { progress, outcomes } = await flood({ size: MAX_WAITING_ADMISSIONS + beyond, balance: 1_000_000n });
    expect(await settle()).toEqual({ cost: 5_000n, charge: 5_000n });
    expect(progress.answered).toBeLessThan(MAX_WAITING_ADMISSIONS / 2);
    const counts = Map.groupBy(await outcomes, (outcome) => outcome);
    expect(counts.get("granted")).toHaveLength(MAX_WAITING_ADMISSIONS);
    expect(counts.get("upstream_busy")).toHaveLength(beyond);
  });

  it("that no balance covers does not block settlements either", async () => {
    const settlements = await Promise.all([granted(), granted(), granted()]);
    const { progress, outcomes } = await flood({ size: 2_000, balance: 0n });
    await expect.poll(() => progress.answered, { interval: 1 }).toBeGreaterThan(10);
    const before = progress.answered;
    await Promise.all(settlements.map((settle) => settle()));
    // One group was under way, and the settlements went with the next.
    expect(progress.answered - before).toBeLessThanOrEqual(2 * MAX_GROUP_SIZE);
    expect(new Set(await outcomes)).toEqual(new Set(["refused"]));
  });

  it("leaves the books in order", async () => {
    expect(await setup.audit()).toEqual(SOUND);
  });
});
