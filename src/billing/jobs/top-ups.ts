import type { Pool } from "pg";
import { collectFreed } from "../top-ups/receivables.ts";
import type { TopUps } from "../top-ups/top-ups.ts";
import type { Tick } from "../../workers/tick.ts";

/** A payer watches: what a notification woke is asked about within this time. */
const CHECK_MS = 1_000;
/** What is owed and free cannot be spent meanwhile, so nothing hurries. */
const COLLECT_MS = 15_000;

/** Collects what accounts owe where nothing else has: what a recovered hold has given back. */
export function receivableTick(pool: Pool): Tick {
  return {
    name: "collect receivables",
    everyMs: COLLECT_MS,
    run: (signal) => collectFreed(pool, signal),
  };
}

/**
 * Asks providers about the top-ups that are due: those a notification is about, and those nothing was heard of. A
 * tick for each provider, so that one that hangs delays only its own orders.
 */
export function topUpTicks(topUps: Pick<TopUps, "checkDue" | "providers">): Tick[] {
  return topUps.providers.map((provider) => ({
    name: `check top-ups: ${provider}`,
    everyMs: CHECK_MS,
    run: (signal) => topUps.checkDue({ provider, signal }),
  }));
}
