/** The value below which `share` (0 to 1) of the sorted samples lie; null without samples. */
export function quantile(sorted: ArrayLike<number>, share: number): number | null {
  if (sorted.length === 0) return null;
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? null;
}

/** The middle of the values that are there; null when none is. */
export function median(values: readonly (number | null | undefined)[]): number | null {
  const present = values.filter((value) => typeof value === "number").toSorted((a, b) => a - b);
  const upper = present[present.length >> 1];
  if (upper === undefined) return null;
  const lower = present[(present.length - 1) >> 1] ?? upper;
  return (lower + upper) / 2;
}

/** The mean of the values that are there; null when none is. */
export function mean(values: readonly (number | null | undefined)[]): number | null {
  const present = values.filter((value) => typeof value === "number");
  return present.length === 0 ? null : present.reduce((sum, each) => sum + each, 0) / present.length;
}

/** Collects samples without a JavaScript array of boxed numbers growing during a measurement. */
export class Samples {
  #values = new Float64Array(1 << 14);
  #length = 0;

  add(value: number): void {
    if (this.#length === this.#values.length) {
      const larger = new Float64Array(this.#values.length * 2);
      larger.set(this.#values);
      this.#values = larger;
    }
    this.#values[this.#length++] = value;
  }

  sorted(): Float64Array {
    return this.#values.subarray(0, this.#length).toSorted();
  }
}
