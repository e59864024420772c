import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { uuidv7 } from "../../src/kernel/ids.ts";
import type { ExtensionRequest } from "../../src/ledger/ledger.ts";
import { recoverHolds } from "../../src/ledger/recovery.ts";
import { testBackends } from "../setup/test-database.ts";
import { admission, MoneySetup, settlement, SOUND, type TestProcess } from "./money-setup.ts";

describe.each(testBackends())("extension of a hold on the %s database", (backend) => {
  let setup: MoneySetup;
  let process: TestProcess;
  beforeAll(async () => {
    setup = await MoneySetup.create(backend);
    process = await setup.process();
  });
  afterAll(() => setup.close());

  /** A running request that holds 100, on an account with this balance. */
  async function running(balance: bigint) {
    const accountId = await setup.account(balance);
    const key = await setup.key(accountId);
    const request = admission(accountId, key, 100n);
    expect(await process.ledger.admit(request)).toMatchObject({ outcome: "granted", amount: 100n });
    const wanting = (amount: bigint, leastAmount = amount, progress = 0): ExtensionRequest => ({
      accountId,
      requestId: request.requestId,
      amount,
      leastAmount,
      inputTokens: progress,
      outputTokens: progress * 2,
    });
    return { accountId, key, requestId: request.requestId, wanting };
  }
  const progressOf = async (requestId: string) =>
    (
      await setup.pool.query("SELECT progress_input_tokens AS i, progress_output_tokens AS o FROM hold WHERE id = $1", [
        requestId,
      ])
    ).rows;

  it("holds the whole requested amount, with the progress, however often it is called", async () => {
    const { accountId, requestId, wanting } = await running(1_000n);
    for (let time = 0; time < 3; time += 1) {
      expect(await process.ledger.extend(wanting(300n, 300n, 7))).toEqual({ outcome: "granted", amount: 300n });
      expect(await setup.balance(accountId)).toEqual({ posted: 1_000n, held: 300n, available: 700n });
    }
    expect(await progressOf(requestId)).toEqual([{ i: 7, o: 14 }]);
  });

  it("never reduces a hold or its progress", async () => {
    const { accountId, requestId, wanting } = await running(1_000n);
    await process.ledger.extend(wanting(300n, 300n, 7));
    expect(await process.ledger.extend(wanting(200n, 200n, 3))).toEqual({ outcome: "granted", amount: 300n });
    expect(await setup.balance(accountId)).toMatchObject({ held: 300n });
    expect(await progressOf(requestId)).toEqual([{ i: 7, o: 14 }]);
  });

  it("grants the available amount when it is still useful, and refuses one unit below", async () => {
    const { accountId, requestId, wanting } = await running(1_000n);
    expect(await process.ledger.extend(wanting(5_000n, 1_001n, 4))).toEqual({
      outcome: "refused",
      amount: 100n,
      othersHold: false,
    });
    expect(await setup.balance(accountId)).toMatchObject({ held: 100n });
    expect(await progressOf(requestId)).toEqual([{ i: 4, o: 8 }]);
    expect(await process.ledger.extend(wanting(5_000n, 1_000n))).toEqual({ outcome: "granted", amount: 1_000n });
    expect(await setup.balance(accountId)).toEqual({ posted: 1_000n, held: 1_000n, available: 0n });
  });

  it("reports with a refusal whether other holds may become available", async () => {
    const { accountId, key, wanting } = await running(300n);
    const other = admission(accountId, key, 200n);
    await process.ledger.admit(other);
    expect(await process.ledger.extend(wanting(150n))).toMatchObject({ outcome: "refused", othersHold: true });
    await process.ledger.settle(settlement(accountId, other.requestId, 0));
    expect(await process.ledger.extend(wanting(150n))).toMatchObject({ outcome: "granted", amount: 150n });
  });

  it("decides a batch of one account in sequence, and other accounts independently", async () => {
    const accountId = await setup.account(1_000n);
    const key = await setup.key(accountId);
    const requests = Array.from({ length: 5 }, () => admission(accountId, key, 100n));
    await Promise.all(requests.map((each) => process.ledger.admit(each)));
    const rich = await running(10_000n);
    const wanted = requests.map(({ requestId }) => ({ ...rich.wanting(300n, 250n), accountId, requestId }));
    const decided = await Promise.all([
      ...wanted.map((each) => process.ledger.extend(each)),
      process.ledger.extend(rich.wanting(9_000n)),
    ]);
    expect(decided.map(({ outcome }) => outcome)).toEqual([
      "granted",
      "granted",
      "refused",
      "refused",
      "refused",
      "granted",
    ]);
    expect(await setup.balance(accountId)).toEqual({ posted: 1_000n, held: 900n, available: 100n });
    expect(await setup.balance(rich.accountId)).toMatchObject({ held: 9_000n });
  });

  it("runs beside admissions and settlements of the same accounts without a wrong sum", async () => {
    const accountId = await setup.account(100_000n);
    const key = await setup.key(accountId);
    const rounds = Array.from({ length: 40 }, async (_, index) => {
      const request = admission(accountId, key, 100n);
      await process.ledger.admit(request);
      const more = { accountId, requestId: request.requestId, inputTokens: 1, outputTokens: 1 };
      for (const amount of [150n, 200n]) await process.ledger.extend({ ...more, amount, leastAmount: amount });
      if (index % 2 === 0) await process.ledger.settle(settlement(accountId, request.requestId, 0));
    });
    await Promise.all(rounds);
    expect(await setup.balance(accountId)).toMatchObject({ held: 20n * 200n, posted: 100_000n });
  });

  it("reports a resolved hold as gone, and holds nothing for it", async () => {
    const { accountId, requestId, wanting } = await running(1_000n);
    await process.ledger.settle(settlement(accountId, requestId, 0));
    expect(await process.ledger.extend(wanting(300n))).toEqual({ outcome: "gone" });
    const unknown = { ...wanting(300n), requestId: uuidv7() };
    expect(await Promise.all([process.ledger.extend(unknown), process.ledger.extend(wanting(300n))])).toEqual([
      { outcome: "gone" },
      { outcome: "gone" },
    ]);
    expect(await setup.balance(accountId)).toMatchObject({ held: 0n });
  });

  it("has the effect of one when connections are ended under the statements", async () => {
    const streams = await Promise.all(Array.from({ length: 8 }, () => running(10_000n)));
    for (let round = 1n; round <= 15n; round += 1n) {
      const amount = 100n + round * 100n;
      const extended = Promise.all(streams.map(({ wanting }) => process.ledger.extend(wanting(amount, amount, 1))));
      await setup.endLaneBackends();
      expect(await extended).toEqual(streams.map(() => ({ outcome: "granted", amount })));
    }
    expect(process.ledger.statistics().lostConnections).toBeGreaterThan(0);
    for (const { accountId } of streams) expect(await setup.balance(accountId)).toMatchObject({ held: 1_600n });
  });

  it("lets recovery charge the progress and release the whole hold", async () => {
    const dying = await setup.process();
    const accountId = await setup.account(1_000_000n);
    const request = admission(accountId, await setup.key(accountId), 100_000n);
    await dying.ledger.admit(request);
    const { requestId } = request;
    await dying.ledger.extend({
      accountId,
      requestId,
      amount: 400_000n,
      leastAmount: 400_000n,
      inputTokens: 10,
      outputTokens: 6,
    });
    await setup.pool.query("UPDATE process SET dead_at = clock_timestamp() WHERE id = $1", [dying.lease.processId]);
    await recoverHolds(setup.pool);
    // 10 × Rp 0.005 and 6 × Rp 0.015.
    expect(await setup.balance(accountId)).toEqual({ posted: 860_000n, held: 0n, available: 860_000n });
    const { rows } = await setup.pool.query(
      "SELECT basis, charge, input_tokens_uncached AS i, output_tokens AS o FROM usage_record WHERE request_id = $1",
      [requestId],
    );
    expect(rows).toEqual([{ basis: "recovered", charge: 140_000n, i: 10, o: 6 }]);
    const late = { accountId, requestId, amount: 500_000n, leastAmount: 1n, inputTokens: 99, outputTokens: 99 };
    expect(await dying.ledger.extend(late)).toEqual({ outcome: "gone" });
  });

  it("keeps the books in order through all of this", async () => {
    expect(await setup.audit()).toEqual(SOUND);
  });
});
