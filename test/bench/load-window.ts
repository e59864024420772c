// The counted stretch of a load: after the warm-up, before the end. Shared by both kinds of load.

import { setTimeout as sleep } from "node:timers/promises";
import type { RequestKind } from "./chat-request.ts";

/** The parameters of every load. */
export type LoadOptions<Metered> = {
  readonly origin: URL;
  readonly keys: readonly string[];
  /** Left out: a short chat. */
  readonly kind?: RequestKind;
  readonly bodyKb: number;
  readonly connections: number;
  readonly warmUpSeconds: number;
  readonly seconds: number;
  /** Called when counting begins; what it returns is called when counting ends. */
  readonly meter: () => () => Metered;
};

/** After so many failures a load stops: the result does not count any more, and the reason has been seen. */
const FAILURE_LIMIT = 100;
const LONGEST_REASON = 400;

// Requests in flight when counting ends are awaited, because an abandoned answer is billed differently.
const DRAIN_SECONDS = 30;

/** Counts failures by reason. */
export class Failures {
  readonly #byReason = new Map<string, number>();

  add(reason: string): void {
    const short = reason.slice(0, LONGEST_REASON);
    this.#byReason.set(short, this.of(short) + 1);
  }

  of(reason: string): number {
    return this.#byReason.get(reason) ?? 0;
  }

  get count(): number {
    return this.#byReason.values().reduce((sum, count) => sum + count, 0);
  }

  get first(): string | null {
    return this.#byReason.keys().next().value ?? null;
  }

  get tooMany(): boolean {
    return this.count >= FAILURE_LIMIT;
  }
}

/** Whether requests are counted and whether new ones may start. */
export class LoadWindow {
  counting = false;
  over = false;
  inFlight = 0;

  /** Waits through warm-up, counting and draining. */
  async pass<Metered>(
    options: LoadOptions<Metered>,
    failures: Failures,
  ): Promise<{ readonly seconds: number; readonly cpuSeconds: number; readonly metered: Metered }> {
    await sleep(options.warmUpSeconds * 1000);
    const stopMeter = options.meter();
    const ownCpu = process.cpuUsage();
    const startedAt = performance.now();
    this.counting = true;
    await sleep(options.seconds * 1000);
    this.counting = false;
    this.over = true;
    const seconds = (performance.now() - startedAt) / 1000;
    const { user, system } = process.cpuUsage(ownCpu);
    const metered = stopMeter();
    for (let waited = 0; this.inFlight > 0 && waited < DRAIN_SECONDS * 100; waited++) await sleep(10);
    if (this.inFlight > 0) failures.add(`${this.inFlight} requests were never answered`);
    return { seconds, cpuSeconds: (user + system) / 1e6, metered };
  }
}
