// Which few of many are sampled. Upstreams write in patterns, such as an empty chunk after each word, so steps of one length
// would find all of the words or none of them.

/** Multiples of it, without their whole part, lie evenly between 0 and 1, and so do those of every second, third and so on. */
const GOLDEN_RATIO = 0.618_033_988_749_895;

/** The place of the nth of many, from 0 to 1. */
export function placeOf(nth: number): number {
  return (nth * GOLDEN_RATIO) % 1;
}

/** At most so many indexes below a length, in their order: one in each of as many equal parts. */
export function spreadOver(length: number, most: number): readonly number[] {
  if (length <= most) return Array.from({ length }, (_, at) => at);
  return Array.from({ length: most }, (_, part) => Math.floor(((part + placeOf(part + 1)) * length) / most));
}
