import type { Pool } from "pg";
import { sealDays } from "../proof/seal.ts";
import { type RootPlaces, sendRoots } from "../proof/send-roots.ts";
import type { ProofKey } from "../proof/signing.ts";
import type { Tick } from "../../workers/tick.ts";

/** A day is sealed within this time after it can be, and a root is sent again where it could not be. */
const EVERY_MS = 10 * 60_000;
/** The part of its time that the database works for it beside requests. */
const SHARE = 0.1;

export type ProofWork = {
  readonly pool: Pool;
  /** None: nothing is sealed. */
  readonly keys: () => Promise<readonly ProofKey[]>;
  readonly places: RootPlaces;
};

/** Seals each day an hour after its end, and sends its root. */
export function proofTick({ pool, keys, places }: ProofWork): Tick {
  return {
    name: "seal the books",
    everyMs: EVERY_MS,
    run: async (signal) => {
      const signing = await keys();
      if (signing.length === 0) return;
      await sealDays(pool, { keys: signing, share: SHARE, signal });
      await sendRoots(pool, places);
    },
  };
}
