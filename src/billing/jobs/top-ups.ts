import type { Pool } from "pg";
import { collectFreed } from "../../ledger/receivables.ts";
import type { TopUps } from "../top-ups/top-ups.ts";
import type { Tick } from "../../workers/tick.ts";

/** The payer is waiting, so an order with a notification is asked about within this time. */
const CHECK_MS = 1_000;
/** Money that is owed cannot be spent meanwhile, so this is not urgent. */
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
 * Asks providers about the top-ups that are due: those with a notification, and those without one. A
 * tick for each provider, so that one that hangs delays only its own orders.
 */
export function topUpTicks(topUps: Pick<TopUps, "checkDue" | "providers">): Tick[] {
  return topUps.providers.map((provider) => ({
    name: `check top-ups: ${provider}`,
    everyMs: CHECK_MS,
    run: (signal) => topUps.checkDue({ provider, signal }),
  }));
}
