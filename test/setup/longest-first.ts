import { BaseSequencer, type TestSpecification } from "vitest/node";

/** They look at every page there is, and keep a core busy. */
const BUSY = /\/accessibility[a-z-]*\.test\.ts$/;
/** They start and end many processes, and wait for most of their time. */
const WAITING =
  /\/(soak|workers|failpoints|nodes|lifecycle|backup|log-canaries|long-outage|kill-gateway|operating|ledger-model)\.test\.ts$/;

/**
 * Begins with the files that take longest, a busy one beside one that waits. Vitest takes the largest first, and theirs are small:
 * they would run alone at the end.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- Vitest's own, of no array
    const sorted = await super.sort(files);
    const busy = sorted.filter(({ moduleId }) => BUSY.test(moduleId));
    const waiting = sorted.filter(({ moduleId }) => WAITING.test(moduleId));
    const pairs = Math.max(busy.length, waiting.length);
    const longest = Array.from({ length: pairs }, (_, at) => [busy[at], waiting[at]]).flat();
    return [...new Set([...longest.filter((file) => file !== undefined), ...sorted])];
  }
}
