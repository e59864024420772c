// The messages between a primary and its workers.

import type { MetricObjectWithValues, MetricValue } from "prom-client";
import type { Serving } from "../compose/app.ts";

/** The metrics of one process, as prom-client hands them on. */
export type MetricObjects = MetricObjectWithValues<MetricValue<string>>[];

/** Sent by the primary. */
export type ToWorker = { readonly kind: "stop" } | { readonly kind: "send metrics" };

/** Sent by a worker. */
export type FromWorker =
  | { readonly kind: "serving"; readonly ports: Serving["ports"] }
  | { readonly kind: "failed"; readonly reason: string }
  | { readonly kind: "metrics"; readonly metrics: MetricObjects };

/** Whether a message is from one of our workers; node:cluster uses the same channel. */
export function isFromWorker(message: unknown): message is FromWorker {
  return typeof message === "object" && message !== null && "kind" in message;
}

/** Whether a message is from our primary. */
export function isToWorker(message: unknown): message is ToWorker {
  return typeof message === "object" && message !== null && "kind" in message;
}

/** The number of the worker that does what a node needs done once, payouts among it. */
export const WORKS_FOR_NODE = 1;
