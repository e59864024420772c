import type { Clock } from "../kernel/clock.ts";
import { ServiceBusy } from "../kernel/errors.ts";

/** How old the copy may be that is served, counted from the start of its read. */
export const MAX_AGE_MS = 60_000;
/** From this age on it is read again behind the requests, so that none of them waits. */
export const REFRESH_AGE_MS = 50_000;
/** How long a failed read behind the requests is left alone. */
const RETRY_PAUSE_MS = 1_000;

type Copy<Value> = { readonly value: Value; readonly startedAtMs: number };

/**
 * Makes a function that gives a copy of something at most a minute old: from memory, renewed in time by one read at a time.
 * While reads fail the last copy serves until it is too old. The clock must never go back. The function's errors: those of
 * the read, and ServiceBusy when the read itself took too long.
 */
export function createFreshCopy<Value>({
  read,
  clock,
}: {
  readonly read: () => Promise<Value>;
  readonly clock: Clock;
}): () => Promise<Value> {
  let copy: Copy<Value> | null = null;
  let running: Promise<Copy<Value>> | null = null;
  let notBeforeMs = -Infinity;

  function refresh(): Promise<Copy<Value>> {
    running ??= readCopy().finally(() => {
      running = null;
    });
    return running;
  }

  async function readCopy(): Promise<Copy<Value>> {
    const startedAtMs = clock.now();
    copy = { value: await read(), startedAtMs };
    return copy;
  }

  function refreshBehind(nowMs: number): void {
    if (running !== null || nowMs < notBeforeMs) return;
    notBeforeMs = nowMs + RETRY_PAUSE_MS;
    refresh().catch(() => {
      // The copy there is still serves; once it is too old a request waits for the read and gets its error.
    });
  }

  return async () => {
    const nowMs = clock.now();
    const ageMs = copy === null ? Infinity : nowMs - copy.startedAtMs;
    if (copy !== null && ageMs < MAX_AGE_MS) {
      if (ageMs >= REFRESH_AGE_MS) refreshBehind(nowMs);
      return copy.value;
    }
    const { value, startedAtMs } = await refresh();
    if (clock.now() - startedAtMs >= MAX_AGE_MS) throw new ServiceBusy();
    return value;
  };
}
