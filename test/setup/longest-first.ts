import { BaseSequencer, type TestSpecification } from "vitest/node";

/** What takes longest: first the files that look at every page there is, then those that start and end many processes. */
const LONGEST = [
  /\/accessibility[a-z-]*\.test\.ts$/,
  /\/(soak|workers|operating|failpoints|lifecycle|nodes|kill-gateway|hostile-text|log-canaries)\.test\.ts$/,
];

/** Begins with the files that take longest. Vitest takes the largest first, and theirs are small: they would run alone at the end. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- Vitest's own, of no array
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => rankOf(one) - rankOf(other));
  }
}

function rankOf({ moduleId }: TestSpecification): number {
  const rank = LONGEST.findIndex((kind) => kind.test(moduleId));
  return rank < 0 ? LONGEST.length : rank;
}
