import type { ProcessGroup } from "./process-meter.ts";

/** What the loads are sent to, in the order in which the tables show it. */
export const TARGET_NAMES = ["direct", "raw", "fastify-parse", "ours", "two-workers"] as const;
export type TargetName = (typeof TARGET_NAMES)[number];

/** Ours with one process and with two workers, on the same database: their bills add up in the same books. */
export const OUR_NAMES: readonly TargetName[] = ["ours", "two-workers"];

/** Something that answers chat requests, and the processes whose work that is. */
export type Target = {
  readonly name: TargetName;
  readonly origin: URL;
  /** Null for the upstream itself: what it uses is nobody's cost. */
  readonly gateway: ProcessGroup | null;
  readonly database: ProcessGroup | null;
};
