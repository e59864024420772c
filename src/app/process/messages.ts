// What a primary and its workers say to each other.

import type { MetricObjectWithValues, MetricValue } from "prom-client";
import type { Serving } from "../compose/app.ts";

/** The metrics of one process, as prom-client hands them on. */
export type MetricObjects = MetricObjectWithValues<MetricValue<string>>[];

/** Said by the primary. */
export type ToWorker = { readonly kind: "stop" } | { readonly kind: "tell metrics" };

/** Said by a worker. */
export type FromWorker =
  | { readonly kind: "serving"; readonly ports: Serving["ports"] }
  | { readonly kind: "failed"; readonly reason: string }
  | { readonly kind: "metrics"; readonly metrics: MetricObjects };

/** Whether this was said by a worker of ours; node:cluster speaks on the same channel. */
export function isFromWorker(message: unknown): message is FromWorker {
  return typeof message === "object" && message !== null && "kind" in message;
}

/** Whether this was said by our primary. */
export function isToWorker(message: unknown): message is ToWorker {
  return typeof message === "object" && message !== null && "kind" in message;
}

/** The number of the worker that does what a node needs done once, payouts among it. */
export const WORKS_FOR_NODE = 1;
