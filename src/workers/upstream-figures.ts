import type { Pool } from "pg";
import { forgetFigures, type UpstreamCounts } from "../gateway/upstream-figures.ts";
import type { Tick } from "./tick.ts";

const FLUSH_MS = 10_000;
const FORGET_MS = 3_600_000;

/** Tells how upstreams do, in every process. */
export function figuresTick(pool: Pool, counts: UpstreamCounts): Tick {
  return { name: "tell how upstreams do", everyMs: FLUSH_MS, run: () => counts.flush(pool) };
}

/** Forgets old figures, in one process of a node. */
export function forgetFiguresTick(pool: Pool): Tick {
  return { name: "forget old figures", everyMs: FORGET_MS, run: () => forgetFigures(pool) };
}
