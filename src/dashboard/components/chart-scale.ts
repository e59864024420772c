// The lines behind a chart and what stands beside them.

/** About so many steps up to the top. */
const STEPS = 4;
const NICE = [1, 2, 5, 10] as const;

/** From nothing up to the first line that nothing rises above, in steps of 1, 2 or 5 of a power of ten. `whole`: no half things. */
export function scaleOf(most: number, whole = false): readonly number[] {
  if (!(most > 0)) return [0];
  const rough = most / STEPS;
  const power = 10 ** Math.floor(Math.log10(rough));
  const nice = (NICE.find((factor) => factor * power >= rough) ?? 10) * power;
  const step = whole ? Math.max(1, nice) : nice;
  const steps = Math.ceil(most / step);
  return Array.from({ length: steps + 1 }, (_, index) => index * step);
}
