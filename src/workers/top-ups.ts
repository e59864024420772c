import type { TopUps } from "../billing/top-ups/top-ups.ts";
import type { Tick } from "./tick.ts";

/** A payer watches: what a notification woke is asked about within this time. */
const CHECK_MS = 1_000;

/** Asks providers about the top-ups that are due: those a notification is about, and those nothing was heard of. */
export function topUpTick(topUps: Pick<TopUps, "checkDue">): Tick {
  return { name: "check top-ups", everyMs: CHECK_MS, run: (signal) => topUps.checkDue(signal) };
}
