// How the cost of some work grows with the length of its text. On a busy machine a measurement is now and then too long and
// never too short, so the shortest of several counts, and work that seems to grow too fast is measured again and again before
// that is believed. The processor time of a thread is counted in steps of some milliseconds, which are too large here.

/** Linear work takes four times as long for four times the text, quadratic work sixteen times. */
const MOST_GROWTH = 8;
const ROUNDS = 5;
const MOST_ROUNDS = 25;
/** Longer work is disturbed in proportion less, and twice is enough. */
const LONG_MS = 250;
/** Work on fewer characters is slow only if it is exponential, and would not end with four times as many. */
const LEAST_CONFIRMED = 1_024;
/** A cache or a heap that is full makes linear work slower at one step, quadratic work is slower at each. */
const STEPS = [4, 16];
/** Cubic work takes 64 times as long, and a cache that is full makes no step so slow. */
const CERTAIN_GROWTH = 32;
/** Shorter work is as good as none. */
const LEAST_MS = 0.05;

/** Makes a hostile text of about so many characters. */
export type TextOf = (characters: number) => string;

/** The length that is tried. Work of less than `worthMs` is not looked at more closely. */
export type Tried = { readonly characters: number; readonly worthMs: number };

function msOf(work: () => void): number {
  const startedAt = performance.now();
  work();
  return performance.now() - startedAt;
}

/** Whether some round of the work takes less than so long. */
export function takesLessThan(ms: number, work: () => void): boolean {
  for (let round = 0; round < ROUNDS; round += 1) if (msOf(work) < ms) return true;
  return false;
}

/** What is wrong with how the work grows from a quarter of the length to all of it, or null. */
export function superLinearGrowth(
  work: (text: string) => void,
  textOf: TextOf,
  { characters, worthMs }: Tried,
): string | null {
  const [text, quarter] = [textOf(characters), textOf(characters / 4)];
  let [whole, part] = [Infinity, Infinity];
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    whole = Math.min(
      whole,
      msOf(() => work(text)),
    );
    if (whole < worthMs) return null;
    part = Math.min(
      part,
      msOf(() => work(quarter)),
    );
    if (round >= ROUNDS && whole / Math.max(LEAST_MS, part) < MOST_GROWTH) return null;
  }
  if (characters >= LEAST_CONFIRMED && growsLinearly(work, textOf, characters, whole)) return null;
  const growth = (whole / Math.max(LEAST_MS, part)).toFixed(1);
  return `${growth} times as long for ${characters} characters as for a quarter, ${whole.toFixed(1)} ms`;
}

/** Whether some step to four times the length takes less than MOST_GROWTH times as long, in some round. */
function growsLinearly(work: (text: string) => void, textOf: TextOf, characters: number, takenMs: number): boolean {
  let ms = takenMs;
  for (const times of STEPS) {
    const longer = textOf(times * characters);
    let whole = Infinity;
    for (let round = 0; round < ROUNDS; round += 1) {
      whole = Math.min(
        whole,
        msOf(() => work(longer)),
      );
      if (whole < MOST_GROWTH * ms) return true;
      if (whole > LONG_MS && round > 0) break;
    }
    if (whole >= CERTAIN_GROWTH * ms) return false;
    ms = whole;
  }
  return false;
}
