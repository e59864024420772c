import type { Pool } from "pg";
import type { CallbackDeliverer } from "../../callbacks/deliver-callbacks.ts";
import { forgetCallbacks } from "../callbacks/forget-callbacks.ts";
import type { Tick } from "../../workers/tick.ts";

const EVERY_MS = 500;
const FORGET_EVERY_MS = 60_000;

/** Starts the callbacks that are due; processes on one database share them out. */
export function callbackTick(deliverer: CallbackDeliverer): Tick {
  return { name: "deliver callbacks", everyMs: EVERY_MS, run: (signal) => deliverer.round(signal) };
}

/** Deletes the log of callbacks that is older than so many days. */
export function forgetCallbacksTick(pool: Pool, days: number): Tick {
  return { name: "forget old callbacks", everyMs: FORGET_EVERY_MS, run: () => forgetCallbacks(pool, days) };
}
