// This machine's clock: whether it leapt while the doctor looked, and whether it agrees with servers outside this machine.

import { failed, type Finding, ok, warning } from "./check.ts";

/** Answers name whole seconds, and take a moment to come. */
const OFF_MS = { warning: 5_000, failed: 30_000 } as const;
const LEAP_MS = 1_000;
const ADVICE = "Synchronize the clock of this machine by NTP.";

/** What servers outside this machine take for the time. */
export class ClockSamples {
  readonly #startMs = Date.now();
  readonly #runMs = performance.now();
  readonly #seen: { readonly host: string; readonly aheadMs: number }[] = [];

  /** Notes an answer that has just come. */
  add(host: string, theirs: Date): void {
    this.#seen.push({ host, aheadMs: Date.now() - theirs.getTime() });
  }

  /** What they show of this machine's clock. */
  finding(): Finding {
    const leapMs = Date.now() - this.#startMs - (performance.now() - this.#runMs);
    if (Math.abs(leapMs) > LEAP_MS)
      return failed("clock", `leapt by ${seconds(leapMs)} while this command ran`, ADVICE);
    // The middle one: a server of another may itself be wrong.
    const sorted = this.#seen.toSorted((one, other) => one.aheadMs - other.aheadMs);
    const middle = sorted[Math.floor(sorted.length / 2)];
    if (middle === undefined)
      return ok("clock", "runs evenly; no server outside this machine gave a time to compare with");
    const off = Math.abs(middle.aheadMs);
    if (off < OFF_MS.warning) return ok("clock", `agrees with ${middle.host} within ${OFF_MS.warning / 1_000} s`);
    const text = `is ${seconds(off)} ${middle.aheadMs > 0 ? "ahead of" : "behind"} ${middle.host}`;
    return off < OFF_MS.failed ? warning("clock", text, ADVICE) : failed("clock", text, ADVICE);
  }
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1_000)} s`;
}
