import { BaseSequencer, type TestSpecification } from "vitest/node";

/** They keep a core busy, or more: a browser, or many requests. */
const BUSY =
  /\/(?:accessibility[a-z-]*|hostile-text|soak|log-canaries|alerts|ledger-model|sign-in|named-points|workers)\.test\.ts$|\/dashboard\/(?:top-up|auto-top-up|trouble|usage|transfers|first-request|members|invitations)\.test\.ts$/;
/** They wait for most of their time: for leases that run out, and for processes and servers that start and end. */
const WAITING =
  /\/(?:lifecycle|operating|nodes|upgrade|long-outage|failpoints|kill-gateway|paused-gateway|killed-stream|backup|second-loss|parallel-streams|secrets-of-a-service|silent-upstreams|log-reader|callbacks)\.test\.ts$|\/(?:app\/payouts|money\/faults)\.test\.ts$/;
/** Busy files for each that waits: one of three workers waits then, and both cores have work. */
const BUSY_EACH = 2;

/** Begins with the files that take longest. Vitest takes the largest first, and theirs are small: they would run alone at the end. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- Vitest's own, of no array
    const sorted = await super.sort(files);
    const busy = sorted.filter(({ moduleId }) => BUSY.test(moduleId));
    const waiting = sorted.filter(({ moduleId }) => WAITING.test(moduleId));
    const rounds = Math.max(waiting.length, Math.ceil(busy.length / BUSY_EACH));
    const longest = Array.from({ length: rounds }, (_, at) => [
      waiting[at],
      ...busy.slice(at * BUSY_EACH, (at + 1) * BUSY_EACH),
    ]).flat();
    return [...new Set([...longest.filter((file) => file !== undefined), ...sorted])];
  }
}
