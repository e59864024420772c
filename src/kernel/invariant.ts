// A broken invariant is a bug of ours: the work stops there, before wrong money is written.

/** A sentence that had to be true was not. Always a bug of ours. */
export class InvariantError extends Error {}

/** Stops unless the sentence is true. Not for what a caller can get wrong. */
export function invariant(condition: boolean, sentence: string): asserts condition {
  if (!condition) throw new InvariantError(`broken invariant: ${sentence}`);
}
