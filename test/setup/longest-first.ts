import { BaseSequencer, type TestSpecification } from "vitest/node";

/** They look at every page there is. */
const LONGEST = /\/accessibility[a-z-]*\.test\.ts$/;

/** Begins with the files that take longest. Vitest takes the largest first, and theirs are small: they would run alone at the end. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- Vitest's own, of no array
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => rankOf(one) - rankOf(other));
  }
}

function rankOf({ moduleId }: TestSpecification): number {
  return LONGEST.test(moduleId) ? 0 : 1;
}
