// Records in the background how far running streams have come. Recovery charges that if this process dies. Each record costs
// the database a row, so only long streams are recorded: one second after their first byte, and then every five. One timer
// serves all streams, and no timer runs while there is no stream.

import { Slots } from "../../kernel/slots.ts";

/** How long a stream lasts before it is recorded, and how often after that. */
export type ProgressTimes = { readonly firstMs: number; readonly everyMs: number; readonly lookMs: number };

const TIMES: ProgressTimes = { firstMs: 1_000, everyMs: 5_000, lookMs: 500 };

type Running = { dueAtMs: number; isRecording: boolean; readonly record: () => Promise<unknown> };

export class ProgressRecorder {
  readonly #times: ProgressTimes;
  readonly #running = new Slots<Running>();
  #timer: NodeJS.Timeout | null = null;

  constructor(times = TIMES) {
    this.#times = times;
  }

  /**
   * Adds a stream whose first byte is sent now. The caller calls the returned function when the stream is over. After a record
   * that failed, the next one includes its figures.
   */
  begin(record: () => Promise<unknown>): () => void {
    const running = { dueAtMs: performance.now() + this.#times.firstMs, isRecording: false, record };
    const remove = this.#running.add(running);
    if (this.#timer === null) {
      this.#timer = setInterval(() => this.#look(), this.#times.lookMs);
      this.#timer.unref();
    }
    return remove;
  }

  #look(): void {
    if (this.#running.size === 0 && this.#timer !== null) {
      clearInterval(this.#timer);
      this.#timer = null;
    }
    const nowMs = performance.now();
    for (const running of this.#running.values()) {
      if (nowMs >= running.dueAtMs && !running.isRecording) void this.#record(running);
    }
  }

  async #record(running: Running): Promise<void> {
    running.isRecording = true;
    try {
      await running.record();
    } catch {
      // The database is away; the stream goes on within its hold.
    } finally {
      running.isRecording = false;
      running.dueAtMs = performance.now() + this.#times.everyMs;
    }
  }
}
