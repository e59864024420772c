import type { Pool } from "pg";
import { forgetFigures, type UpstreamCounts } from "../upstreams/upstream-figures.ts";
import type { LearnedModels } from "../upstreams/learned-models.ts";
import { forgetUpstreamMarks, type UpstreamMarks } from "../upstreams/upstream-marks.ts";
import type { Tick } from "../../workers/tick.ts";

const FLUSH_MS = 10_000;
const EXCHANGE_MS = 10_000;
const FORGET_MS = 3_600_000;

/** Writes the figures of upstreams to the database, in every process. */
export function figuresTick(pool: Pool, counts: UpstreamCounts): Tick {
  return { name: "store upstream figures", everyMs: FLUSH_MS, run: () => counts.flush(pool) };
}

/** Shares what processes have found out about upstreams and models. */
export function learnedFactsTick(
  pool: Pool,
  {
    marks,
    learned,
    onMark,
  }: {
    readonly marks: UpstreamMarks;
    readonly learned: LearnedModels;
    readonly onMark: (upstream: string, agoMs: number) => void;
  },
): Tick {
  return {
    name: "share upstream findings",
    everyMs: EXCHANGE_MS,
    async run() {
      for (const { upstream, agoMs } of await marks.exchange(pool)) onMark(upstream, agoMs);
      await learned.exchange(pool);
    },
  };
}

/** Forgets old figures, in one process of a node. */
export function forgetFiguresTick(pool: Pool): Tick {
  return { name: "forget old figures", everyMs: FORGET_MS, run: () => forget(pool) };
}

async function forget(pool: Pool): Promise<void> {
  await forgetFigures(pool);
  await forgetUpstreamMarks(pool);
}
