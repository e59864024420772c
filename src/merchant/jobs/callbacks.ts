import type { Pool } from "pg";
import type { CallbackDeliverer } from "../../callbacks/deliver-callbacks.ts";
import { forgetDeliveries } from "../../callbacks/forget-deliveries.ts";
import { MERCHANT_CALLBACKS } from "../callbacks/store.ts";
import type { Tick } from "../../workers/tick.ts";

const EVERY_MS = 500;
const FORGET_EVERY_MS = 60_000;

/** Starts the callbacks that are due; processes on one database share them out. */
export function callbackTick(deliverer: CallbackDeliverer): Tick {
  return { name: "deliver callbacks", everyMs: EVERY_MS, run: (signal) => deliverer.round(signal) };
}

/** Deletes the log of callbacks that is older than so many days. */
export function forgetCallbacksTick(pool: Pool, days: number): Tick {
  const run = (): Promise<void> => forgetDeliveries(MERCHANT_CALLBACKS, pool, days);
  return { name: "forget old callbacks", everyMs: FORGET_EVERY_MS, run };
}
