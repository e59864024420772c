import type { ProcessGroup } from "./process-meter.ts";

/** What the loads are sent to, in the order in which the tables show it. */
export const TARGET_NAMES = [
  "direct",
  "raw",
  "fastify-parse",
  "ours",
  "two-workers",
  "untraced",
  "traced-1",
  "traced-all",
  "unlimited",
  "key-budgets",
  "budgeted",
  "with-standby",
  "two-cells",
] as const;
export type TargetName = (typeof TARGET_NAMES)[number];

/**
 * Gateways of ours beside the one process, on its database: their bills add up in the same books. `traces`: the share of requests that
 * is traced, in percent. Null: none is, as in `ours`, so that the difference of the two is that of two equal processes.
 */
export const BESIDE = {
  "two-workers": { workers: 2, traces: null },
  untraced: { workers: 1, traces: null },
  "traced-1": { workers: 1, traces: 1 },
  "traced-all": { workers: 1, traces: 100 },
} as const satisfies Partial<Record<TargetName, GatewaySettings>>;
export type GatewaySettings = { readonly workers: number; readonly traces: number | null };

/**
 * The one process once more, with keys of their own on as many other accounts: `unlimited` is like `ours`; each key of `key-budgets`
 * has a budget; each key of `budgeted` has one, and so has the member who made it.
 */
export const WITH_OWN_KEYS = ["unlimited", "key-budgets", "budgeted"] as const satisfies TargetName[];
/** Those of them whose keys have a budget. */
export const WITH_BUDGETS: readonly TargetName[] = ["key-budgets", "budgeted"];
export type WithOwnKeys = (typeof WITH_OWN_KEYS)[number];

/** The one process, with whatever keys, and those beside it. */
export const OUR_NAMES: readonly TargetName[] = [
  "ours",
  ...(Object.keys(BESIDE) as (keyof typeof BESIDE)[]),
  ...WITH_OWN_KEYS,
];

/** Whether a target is the one process with keys of its own. */
export function hasOwnKeys(name: TargetName): name is WithOwnKeys {
  return WITH_OWN_KEYS.some((own) => own === name);
}

/** Whether a target is started beside the one process. */
export function isBeside(name: TargetName): name is keyof typeof BESIDE {
  return Object.hasOwn(BESIDE, name);
}

/**
 * Ours on databases of their own, with the keys of the run: one whose commits wait until their log is durable in the folder of the
 * backups, and one with two cells that have half of the accounts each.
 */
export const WITH_OWN_DATABASES = {
  "with-standby": { synchronous: true, cells: false },
  "two-cells": { synchronous: false, cells: true },
} as const satisfies Partial<Record<TargetName, object>>;
export type WithOwnDatabase = keyof typeof WITH_OWN_DATABASES;

/** Whether a target is ours on a database of its own. */
export function hasOwnDatabase(name: TargetName): name is WithOwnDatabase {
  return Object.hasOwn(WITH_OWN_DATABASES, name);
}

/** A server for chat requests, and the processes that do its work. */
export type Target = {
  readonly name: TargetName;
  readonly origin: URL;
  /** Null for the upstream itself: its usage is not measured. */
  readonly gateway: ProcessGroup | null;
  readonly database: ProcessGroup | null;
  /** Whose requests are sent to it. Absent: those of the run. */
  readonly keys?: readonly string[];
};
