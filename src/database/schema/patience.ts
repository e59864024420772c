// How long a change of tables that requests use waits for its locks.

/** How long one try waits, how often it is tried, and the least pause between two tries. */
export type Patience = { readonly lockTimeoutMs: number; readonly attempts: number; readonly pauseMs: number };
/** Shorter than the 250 ms that statements of requests wait for a lock, so that none of them fails behind a change that waits. */
export const PATIENCE: Patience = { lockTimeoutMs: 150, attempts: 200, pauseMs: 300 };
