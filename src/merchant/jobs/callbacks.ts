import type { CallbackDeliverer } from "../callbacks/deliver-callbacks.ts";
import type { Tick } from "../../workers/tick.ts";

const EVERY_MS = 500;

/** Starts the callbacks that are due; processes on one database share them out. */
export function callbackTick(deliverer: CallbackDeliverer): Tick {
  return { name: "deliver callbacks", everyMs: EVERY_MS, run: (signal) => deliverer.round(signal) };
}
