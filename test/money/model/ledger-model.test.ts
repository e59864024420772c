// Random walks through the ledger, compared with a model of it after every step. A failing walk prints its seed and the
// shortest walk that fails. `npm run ledger-model -- --seeds N` walks more, `--replay` walks a failed one again.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { testBackends } from "../../setup/test-database.ts";
import { chooseSeed } from "../random.ts";
import { MoneyWorld, SOUND } from "../world.ts";
import { anyIntent, atomicIntent, PRICE_LISTS } from "./intents.ts";
import { LedgerStep, PriceStep, type WalkState } from "./ledger-step.ts";
import { RealLedger } from "./real-ledger.ts";
import { ReferenceLedger } from "./reference.ts";

const SEEDS = Number(process.env["SALDO_MODEL_SEEDS"] ?? 200);
const MOST_STEPS = 50;
const PROCESSES = 2;
/** Each walk is audited with all the books of its database, so a database is used for so many. */
const WALKS_PER_DATABASE = 500;
/** A walk is done well within this, also where others share the machine. */
const PATIENCE_PER_WALK_MS = 3_000;

/** A failed walk as it was printed: its seed, its path and the steps that were run. */
const [seed = chooseSeed(), path, replayPath] = (process.env["SALDO_MODEL_REPLAY"] ?? "").split(" ").filter(Boolean);

const isShort = SEEDS < 200 || path !== undefined;

const steps = fc.commands(
  [
    anyIntent.map((intent) => new LedgerStep([intent])),
    anyIntent.map((intent) => new LedgerStep([intent])),
    fc.array(atomicIntent, { minLength: 2, maxLength: 4 }).map((intents) => new LedgerStep(intents)),
    fc.constantFrom(...PRICE_LISTS).map((prices) => new PriceStep(prices)),
  ],
  { maxCommands: MOST_STEPS, size: "max", ...(replayPath === undefined ? {} : { replayPath }) },
);

/** What must have happened in two hundred walks, whatever their seed: a model of what never happens shows nothing. */
const USUAL = `credit, admit: granted, admit: refused, admit: limited, admit: revoked, settle, settle: cut off, release,
  progress, die, recover, sweep, revoke, limit, wait`.split(/,\s+/);

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
  backend: Parameters<typeof MoneyWorld.create>[0],
  { seed: firstSeed, walks, seen }: Walks,
): Promise<void> {
  const world = await MoneyWorld.create(backend);
  const real = await RealLedger.open(world, PROCESSES);
  const walk = fc.asyncProperty(steps, async (commands) => {
    const model = new ReferenceLedger(PROCESSES);
    for (const limits of [[0, 3], [60]]) {
      const { accountId, keys } = await real.account(...limits);
      model.openAccount(accountId, keys);
    }
    const state: WalkState = { model, prices: PRICE_LISTS[0] as (typeof PRICE_LISTS)[number], seen };
    try {
      await fc.asyncModelRun(() => ({ model: state, real }), commands);
      expect(await world.audit()).toEqual(SOUND);
    } finally {
      // What one walk leaves open, the recovery of another would find.
      for (const requestId of model.holds.keys()) await real.perform({ do: "release", process: 0, requestId });
    }
  });
  try {
    const replayed = path === undefined ? {} : { path, endOnFailure: true };
    await fc.assert(walk, { numRuns: walks, seed: firstSeed, ...replayed });
  } finally {
    await real.close();
    await world.close();
  }
}
