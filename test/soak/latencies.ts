// Latencies by the current fault, in bounded memory: beyond so many of a kind, a new one replaces a random one.

import { quantile } from "../bench/statistics.ts";
import { seededRandom } from "../money/random.ts";

const MAX_SAMPLES = 20_000;

export type LatencyLine = {
  readonly phase: string;
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
};

export class Latencies {
  readonly #samples = new Map<string, { count: number; kept: number[] }>();
  readonly #random = seededRandom(1);

  add(phase: string, ms: number): void {
    const samples = this.#samples.get(phase) ?? { count: 0, kept: [] };
    this.#samples.set(phase, samples);
    samples.count += 1;
    if (samples.kept.length < MAX_SAMPLES) samples.kept.push(ms);
    else {
      const place = Math.floor(this.#random() * samples.count);
      if (place < MAX_SAMPLES) samples.kept[place] = ms;
    }
  }

  lines(): LatencyLine[] {
    return [...this.#samples].map(([phase, { count, kept }]) => {
      const sorted = kept.toSorted((a, b) => a - b);
      return { phase, count, p50: quantile(sorted, 0.5) ?? 0, p99: quantile(sorted, 0.99) ?? 0 };
    });
  }
}
