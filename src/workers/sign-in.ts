import type { Pool } from "pg";
import { removeExpired } from "../accounts/expired-rows.ts";
import type { Tick } from "./tick.ts";

const EVERY_MS = 60_000;

/** Removes sessions, links and counts of tries that are over. */
export function signInTick(pool: Pool): Tick {
  return { name: "forget old sign-ins", everyMs: EVERY_MS, run: () => removeExpired(pool) };
}
