import type { TopUps } from "../billing/top-ups/top-ups.ts";
import type { Tick } from "./tick.ts";

/** A payer watches: what a notification woke is asked about within this time. */
const CHECK_MS = 1_000;

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
