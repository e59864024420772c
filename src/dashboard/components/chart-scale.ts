// The grid lines of a chart and their labels.

/** The approximate number of steps up to the top. */
const STEPS = 4;
const NICE = [1, 2, 5, 10] as const;

/**
 * The ticks from zero to the first one that no value exceeds, in steps of 1, 2 or 5 times a power of ten. `whole`: no
 * fractions.
 */
export function scaleOf(most: number, whole = false): readonly number[] {
  if (!(most > 0)) return [0];
  const rough = most / STEPS;
  const power = 10 ** Math.floor(Math.log10(rough));
  const nice = (NICE.find((factor) => factor * power >= rough) ?? 10) * power;
  const step = whole ? Math.max(1, nice) : nice;
  const steps = Math.ceil(most / step);
  return Array.from({ length: steps + 1 }, (_, index) => index * step);
}
