import type { ProcessGroup } from "./process-meter.ts";

/** What the loads are sent to, in the order in which the tables show it. */
export const TARGET_NAMES = ["direct", "raw", "fastify-parse", "ours", "two-workers", "with-standby"] as const;
export type TargetName = (typeof TARGET_NAMES)[number];

/** Ours with one process and with two workers, on the same database: their bills add up in the same books. */
export const OUR_NAMES: readonly TargetName[] = ["ours", "two-workers"];

/** Ours on a database of its own, whose commits wait until their log is durable in the folder of the backups. */
export const CONFIRMED_NAME: TargetName = "with-standby";

/** A server for chat requests, and the processes that do its work. */
export type Target = {
  readonly name: TargetName;
  readonly origin: URL;
  /** Null for the upstream itself: its usage is not measured. */
  readonly gateway: ProcessGroup | null;
  readonly database: ProcessGroup | null;
};
