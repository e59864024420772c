// A death of the engine's process at each place between two of its steps, as payouts/README.md describes it: the next
// engine brings the transfer to its end, and the chain has it once.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Failpoint, PAYOUT_FAILPOINTS } from "../../../src/kernel/failpoint.ts";
import type { EngineOrder } from "./engine-process.ts";
import { EvmSetup, FINAL_AFTER, PATIENT } from "./evm-setup.ts";
import { expectSoundBooks } from "./ordered.ts";

const ENTRY = fileURLToPath(new URL("engine-process.ts", import.meta.url));
const DIES_WITHIN_MS = 60_000;
const BLOCK_MS = 100;

type Left = {
  readonly statuses: readonly string[];
  readonly state: string;
  readonly attempts: number;
  /** Whether the network has the transaction. */
  readonly isOnChain: boolean;
};
const SUBMITTED = ["PENDING", "SUBMITTED"];
const LEFT: Readonly<Record<(typeof PAYOUT_FAILPOINTS)[number], Left>> = {
  "after-payout-chosen": { statuses: ["PENDING"], state: "chosen", attempts: 0, isOnChain: false },
  "after-payout-signed": { statuses: ["PENDING"], state: "chosen", attempts: 0, isOnChain: false },
  "after-payout-stored": { statuses: ["PENDING"], state: "signed", attempts: 1, isOnChain: false },
  "after-payout-journaled": { statuses: ["PENDING"], state: "signed", attempts: 1, isOnChain: false },
  "after-payout-broadcast": { statuses: ["PENDING"], state: "signed", attempts: 1, isOnChain: true },
  "before-payout-settled": { statuses: SUBMITTED, state: "broadcast", attempts: 1, isOnChain: true },
  "after-payout-settled": { statuses: [...SUBMITTED, "CONFIRMED"], state: "confirmed", attempts: 1, isOnChain: true },
};
/** These are reached only when the chain goes on. */
const NEEDS_BLOCKS: ReadonlySet<Failpoint> = new Set(["before-payout-settled", "after-payout-settled"]);

describe("an engine that is killed", () => {
  let setup: EvmSetup;
  const children: ChildProcess[] = [];
  beforeAll(async () => {
    setup = await EvmSetup.open();
  });
  afterAll(async () => {
    for (const child of children) child.kill("SIGKILL");
    await setup.close();
  });

  /** Runs an engine until it has killed itself. */
  async function dieAt(place: Failpoint): Promise<void> {
    const order: EngineOrder = {
      databaseUrl: setup.opened.url,
      chain: setup.settings(),
      policy: PATIENT,
      dieAt: place,
      journal: setup.guard().journal.folder,
    };
    const child = spawn(process.execPath, [ENTRY, JSON.stringify(order)], { stdio: ["ignore", "inherit", "inherit"] });
    children.push(child);
    const giveUp = setTimeout(() => child.kill("SIGTERM"), DIES_WITHIN_MS);
    const blocks = NEEDS_BLOCKS.has(place) ? setInterval(() => void setup.anvil.mine(), BLOCK_MS) : undefined;
    const [, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
    clearTimeout(giveUp);
    clearInterval(blocks);
    expect(signal).toBe("SIGKILL");
  }

  it.each(PAYOUT_FAILPOINTS)("%s leaves what the next one ends, once", async (place) => {
    const to = await setup.recipient();
    const before = Number((await setup.merchant.balance("USDT")).available);
    const transferId = await setup.orderTokens(to);
    await dieAt(place);

    const { statuses, state, attempts, isOnChain } = LEFT[place];
    expect(await setup.merchant.statuses(transferId)).toEqual(statuses);
    const [left] = await setup.merchant.history(transferId);
    expect(left).toMatchObject({ state });
    expect(left?.attempts).toHaveLength(attempts);
    const pooled = await setup.anvil.pooledOf(setup.hot.address);
    const paid = await setup.anvil.tokenTransfersTo(setup.token, to);
    expect([...pooled, ...paid.map(({ transactionHash }) => transactionHash)]).toEqual(
      isOnChain ? [left?.attempts[0]?.hash] : [],
    );

    await setup.runToEnd(setup.engine(), [transferId]);
    const transfer = await setup.merchant.transfer(transferId);
    expect(transfer.status).toBe("CONFIRMED");
    expect(transfer.confirmations).toBeGreaterThanOrEqual(FINAL_AFTER);
    expect(await setup.anvil.tokenTransfersTo(setup.token, to)).toEqual([
      { transactionHash: transfer.transactionHash, value: 5_000_000n },
    ]);
    const history = await setup.merchant.history(transferId);
    expect(history.map((payout) => [payout.nonce, payout.state])).toEqual([[left?.nonce, "confirmed"]]);
    expect(history[0]?.attempts).toHaveLength(1);
    const { available, held } = await setup.merchant.balance("USDT");
    expect([before - Number(available), held]).toEqual([expect.closeTo(6.5, 6), "0"]);
    await expectSoundBooks(setup.database);
  });
});
