// Background work: small, bounded, repeated. A tick that fails is logged and tried again; ticks of one kind never overlap.

import { setTimeout as sleep } from "node:timers/promises";

export type Tick = {
  readonly name: string;
  readonly everyMs: number;
  /** One round of work. What it throws is reported and does not stop the next round. Long rounds end when `signal` is aborted. */
  readonly run: (signal: AbortSignal) => Promise<unknown>;
};

export type RunningTicks = {
  /** Ends the ticking and waits for rounds under way. */
  stop(): Promise<void>;
};

/** Runs each tick now and then again after every pause, until stopped. */
export function startTicks(ticks: readonly Tick[], onError: (name: string, error: unknown) => void): RunningTicks {
  const stopping = new AbortController();
  const loops = ticks.map(async ({ name, everyMs, run }) => {
    while (!stopping.signal.aborted) {
      try {
        await run(stopping.signal);
      } catch (error) {
        // A round that was aborted has not failed.
        if (!stopping.signal.aborted) onError(name, error);
      }
      // Aborted: the loop ends.
      await sleep(everyMs, undefined, { signal: stopping.signal, ref: false }).catch(() => {});
    }
  });
  return {
    stop: async () => {
      stopping.abort();
      await Promise.all(loops);
    },
  };
}
