// Random walks through the ledger, compared with a model of it after every step. A failing walk prints its seed and the
// shortest walk that fails. `npm run ledger-model -- --seeds N` walks more, `--replay` walks a failed one again.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { testBackends } from "../../setup/test-database.ts";
import { chooseSeed } from "../random.ts";
import { MoneySetup, SOUND } from "../money-setup.ts";
import { anyIntent, atomicIntent, PRICE_LISTS } from "./intents.ts";
import { LedgerStep, PriceStep, type WalkState } from "./ledger-step.ts";
import { RealLedger } from "./real-ledger.ts";
import { ReferenceLedger } from "./reference.ts";

const SEEDS = Number(process.env["SALDO_MODEL_SEEDS"] ?? 200);
const MOST_STEPS = 35;
const PROCESSES = 2;
/** Enough for groups of each process. */
const MOST_AT_ONCE = 9;
/** An audit reads all the books of a database, so it follows some walks only, and a database is used for so many. */
const WALKS_PER_AUDIT = 10;
const WALKS_PER_DATABASE = 500;
/** A walk ends well within this time, also on a shared machine. */
const PATIENCE_PER_WALK_MS = 3_000;
/** How long a shorter failing walk is searched. */
const SHRINKING_MS = 45_000;

/** A failed walk as it was printed: its seed, its path and the steps that were run. */
const [seed = chooseSeed(), path, replayPath] = (process.env["SALDO_MODEL_REPLAY"] ?? "").split(" ").filter(Boolean);

const isShort = SEEDS < 200 || path !== undefined;

const steps = fc.commands(
  [
    anyIntent.map((intent) => new LedgerStep([intent])),
    anyIntent.map((intent) => new LedgerStep([intent])),
    fc.array(atomicIntent, { minLength: 2, maxLength: MOST_AT_ONCE }).map((intents) => new LedgerStep(intents)),
    fc.constantFrom(...PRICE_LISTS).map((prices) => new PriceStep(prices)),
  ],
  { maxCommands: MOST_STEPS, size: "max", ...(replayPath === undefined ? {} : { replayPath }) },
);

/** Events of two hundred walks with any seed: a model of events that never happen shows nothing. */
const USUAL =
  `credit, admit: granted, admit: refused, admit: limited, admit: revoked, admit: frozen, admit: crowded, settle, settle: cut off, release, give back, give back: refused,
  extend: granted, extend: refused, extend: gone, die, recover, sweep, buy, charge back, collect, revoke, freeze, crowd, limit, wait`.split(
    /,\s+/,
  );

describe.each(testBackends())("the ledger on the %s database", (backend) => {
  it(
    `answers and books as its model does on ${SEEDS} random walks`,
    async () => {
      const seen = new Map<string, number>();
      for (let walked = 0; walked < SEEDS; walked += WALKS_PER_DATABASE) {
        const walks = Math.min(SEEDS - walked, WALKS_PER_DATABASE);
        await walkOn(backend, { seed: Number(seed) + walked, walks, seen });
      }
      expect([...seen.keys()], `seed ${seed}`).toEqual(expect.arrayContaining(isShort ? [] : USUAL));
    },
    60_000 + SEEDS * PATIENCE_PER_WALK_MS,
  );
});

type Walks = { readonly seed: number; readonly walks: number; readonly seen: Map<string, number> };

async function walkOn(
  backend: Parameters<typeof MoneySetup.create>[0],
  { seed: firstSeed, walks, seen }: Walks,
): Promise<void> {
  const setup = await MoneySetup.create(backend);
  const real = await RealLedger.open(setup, PROCESSES);
  let walked = 0;
  let failedAtMs = Infinity;
  const walk = fc.asyncProperty(steps, async (commands) => {
    if (performance.now() - failedAtMs > SHRINKING_MS) return;
    const model = new ReferenceLedger(PROCESSES);
    for (const limits of [[0, 3], [60]]) {
      const { accountId, keys } = await real.account(...limits);
      model.openAccount(accountId, keys);
    }
    const state: WalkState = { model, prices: PRICE_LISTS[0] as (typeof PRICE_LISTS)[number], seen };
    try {
      await fc.asyncModelRun(() => ({ model: state, real }), commands);
      walked += 1;
      expect(walked % WALKS_PER_AUDIT === 0 ? await setup.audit() : SOUND).toEqual(SOUND);
    } catch (error) {
      failedAtMs = Math.min(failedAtMs, performance.now());
      throw error;
    } finally {
      // The recovery of another walk would find the open holds of this one.
      for (const requestId of model.holds.keys()) await real.perform({ do: "release", process: 0, requestId });
    }
  });
  try {
    const replayed = path === undefined ? {} : { path, endOnFailure: true };
    await fc.assert(walk, { numRuns: walks, seed: firstSeed, ...replayed });
    expect(await setup.audit()).toEqual(SOUND);
  } finally {
    await real.close();
    await setup.close();
  }
}
