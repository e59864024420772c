// The engine on the embedded chain: what each magic amount leads to. The chain's clock is the test's; what the engine waits for
// by the database's clock is nothing here, or never.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Database } from "../../../src/database/database.ts";
import { BLOCK_MS, createSandboxChain } from "../../../src/merchant/chains/sandbox/sandbox-chain.ts";
import { PayoutEngine, type PayoutPolicy, type PayoutTrouble } from "../../../src/merchant/payouts/payout-engine.ts";
import { NOT_SIGNED, NOT_TAKEN } from "../../../src/merchant/payouts/advance-payout.ts";
import { REVERTED } from "../../../src/merchant/payouts/settle-payout.ts";
import { createTestDatabase, type TestDatabase } from "../../setup/test-database.ts";
import { expectSoundBooks, hasEnded, OrderingMerchant } from "./ordered.ts";

const NEVER_MS = 3_600_000;
const PATIENT: PayoutPolicy = {
  leaseMs: 10_000,
  maxInFlight: 200,
  stuckAfterMs: NEVER_MS,
  giveUpAfterMs: NEVER_MS,
  headPace: null,
  dailyCaps: {},
};
const MOST_ROUNDS = 100;

type Outcome = {
  readonly name: string;
  readonly amount: string;
  readonly policy?: Partial<PayoutPolicy>;
  readonly statuses: readonly string[];
  readonly reason?: string;
  readonly states: readonly string[];
  readonly attempts: readonly string[];
};

const PAID = { statuses: ["PENDING", "SUBMITTED", "CONFIRMED"], states: ["confirmed"] } as const;
const OUTCOMES: readonly Outcome[] = [
  { name: "is paid", amount: "1", ...PAID, attempts: ["payment"] },
  { name: "is paid late", amount: "1.0001", ...PAID, attempts: ["payment"] },
  { name: "is dropped and sent again", amount: "1.0002", ...PAID, attempts: ["payment"] },
  { name: "is reorganized and mined again", amount: "1.0003", ...PAID, attempts: ["payment"] },
  {
    name: "is reverted",
    amount: "1.0004",
    statuses: ["PENDING", "SUBMITTED", "REJECTED"],
    reason: REVERTED,
    states: ["reverted"],
    attempts: ["payment"],
  },
  {
    name: "is refused by the network",
    amount: "1.0005",
    policy: { giveUpAfterMs: 0 },
    statuses: ["PENDING", "REJECTED"],
    reason: NOT_TAKEN,
    states: ["filled"],
    attempts: ["payment", "filler"],
  },
  {
    name: "cannot be signed",
    amount: "1.0006",
    statuses: ["PENDING", "REJECTED"],
    reason: NOT_SIGNED,
    states: ["filled"],
    attempts: ["filler"],
  },
  { name: "is taken without an answer", amount: "1.0007", ...PAID, attempts: ["payment"] },
  {
    name: "offers too little and is replaced",
    amount: "1.0008",
    policy: { stuckAfterMs: 0 },
    ...PAID,
    attempts: ["payment", "payment"],
  },
];

describe("a sandbox transfer", () => {
  let opened: TestDatabase;
  let database: Database;
  let merchant: OrderingMerchant;
  let now = Date.UTC(2026, 10, 21);
  const troubles: PayoutTrouble[] = [];
  beforeAll(async () => {
    opened = await createTestDatabase();
    ({ database } = opened);
    merchant = await OrderingMerchant.open(database, "sandbox", { TRX: "100000" });
  });
  afterAll(() => opened.drop());

  function engineWith(policy: Partial<PayoutPolicy> = {}): PayoutEngine {
    return new PayoutEngine({
      pool: database.pool,
      chain: createSandboxChain(database, { now: () => now }),
      serves: { environment: "sandbox", network: null },
      policy: { ...PATIENT, ...policy },
      guard: null,
      report: (trouble) => troubles.push(trouble),
    });
  }

  /** Rounds, a block apart, until the transfers have ended. */
  async function runToEnd(engine: PayoutEngine, transferIds: readonly string[]): Promise<void> {
    for (let round = 0; round < MOST_ROUNDS; round += 1) {
      await engine.round();
      const transfers = await Promise.all(transferIds.map((id) => merchant.transfer(id)));
      if (transfers.every(hasEnded)) {
        await engine.resign();
        return;
      }
      now += BLOCK_MS;
    }
    throw new Error(`not ended after ${MOST_ROUNDS} rounds`);
  }

  it.each(OUTCOMES)("$name: $amount", async ({ amount, policy, statuses, reason, states, attempts }) => {
    const before = await merchant.balance("TRX");
    const transferId = await merchant.order({ currencyCode: "TRX", amount, to: "TReceiver" });
    await runToEnd(engineWith(policy), [transferId]);

    expect(await merchant.statuses(transferId)).toEqual(statuses);
    const transfer = await merchant.transfer(transferId);
    expect(transfer.reason).toBe(reason ?? null);
    const history = await merchant.history(transferId);
    expect(history.map(({ state }) => state)).toEqual(states);
    expect(history.flatMap((payout) => payout.attempts.map(({ kind }) => kind))).toEqual(attempts);
    const finals = history.flatMap((payout) => payout.attempts.filter(({ state }) => state === "final"));
    expect(finals.map(({ hash }) => hash)).toEqual(history.map(({ finalHash }) => finalHash));
    // What was paid left with its fee of 16.7; what was not is back whole.
    const isPaid = statuses.includes("CONFIRMED");
    const { hash = null } = isPaid ? (finals[0] ?? {}) : {};
    expect(isPaid ? transfer.transactionHash : null).toBe(hash);
    expect(transfer.confirmations >= (isPaid ? 3 : 0)).toBe(true);
    const spent = isPaid ? Number(amount) + 16.7 : 0;
    expect(Number((await merchant.balance("TRX")).available)).toBeCloseTo(Number(before.available) - spent, 6);
    expect((await merchant.balance("TRX")).held).toBe("0");
    await expectSoundBooks(database);
  });

  it("goes out beside others, each once and by a nonce of its own, though several engines work at once", async () => {
    const transferIds = await Promise.all(
      Array.from({ length: 8 }, (_, at) =>
        merchant.order({ currencyCode: "TRX", amount: at % 5 === 0 ? "2.0003" : "2", to: `TReceiver${at}` }),
      ),
    );
    const engines = [engineWith({ leaseMs: 0 }), engineWith({ leaseMs: 0 }), engineWith({ leaseMs: 0 })];
    for (let round = 0; round < MOST_ROUNDS; round += 1) {
      await Promise.all(engines.map((engine) => engine.round()));
      now += BLOCK_MS;
      const transfers = await Promise.all(transferIds.map((id) => merchant.transfer(id)));
      if (transfers.every(hasEnded)) break;
    }
    const histories = await Promise.all(transferIds.map((id) => merchant.history(id)));
    for (const [at, history] of histories.entries()) {
      expect(history.map(({ state }) => state)).toEqual(["confirmed"]);
      expect(history[0]?.attempts).toHaveLength(1);
      expect(await merchant.statuses(transferIds[at] ?? "")).toEqual(["PENDING", "SUBMITTED", "CONFIRMED"]);
    }
    expect(new Set(histories.map(([payout]) => payout?.nonce)).size).toBe(8);
    await expectSoundBooks(database);
    expect(troubles.filter(({ kind }) => kind === "foreign_nonce")).toEqual([]);
  });

  it("of a currency without fees is worked on by one engine at a time, and by another when the first lets go", async () => {
    const [leader, other] = [engineWith(), engineWith()];
    const transferId = await merchant.order({ currencyCode: "TRX", amount: "1.0001", to: "TReceiver" });
    await leader.round();
    const second = await merchant.order({ currencyCode: "TRX", amount: "1", to: "TReceiver" });
    await other.round();
    expect(await merchant.history(second)).toEqual([]);
    await leader.resign();
    await other.round();
    expect(await merchant.history(second)).toHaveLength(1);
    await other.resign();
    await runToEnd(leader, [transferId, second]);
    await expectSoundBooks(database);
  });
});
