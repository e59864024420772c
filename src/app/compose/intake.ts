// The settings and metrics of bodies and connections on the HTTP port: those received and those refused.

import { Gauge, type Registry } from "prom-client";
import { addCounter } from "../observability/metrics.ts";
import type { Config } from "../config/config.ts";
import { DEFAULT_INTAKE } from "../../transport/http/body-budget.ts";
import type { Servers } from "../../transport/server/servers.ts";

const MIB = 1024 * 1024;

/** The bounds of the HTTP port as they are set. */
export function intakeSettings({ bodyBudgetMib, uploadsPerKey, maxConnections }: Config) {
  const intake = { ...DEFAULT_INTAKE, budgetBytes: bodyBudgetMib * MIB, uploadsPerCaller: uploadsPerKey };
  return { intake, maxConnections };
}

/** Adds the metrics of what is received. */
export function addIntakeMetrics(
  registry: Registry,
  servers: Pick<Servers, "intake" | "droppedConnections">,
  { bodyBudgetMib }: Pick<Config, "bodyBudgetMib">,
): void {
  const budget = new Gauge({
    name: "saldo_request_body_budget_bytes",
    help: "How many bytes of request bodies may be received at a time",
    registers: [registry],
  });
  budget.set(bodyBudgetMib * MIB);
  const gauge: Gauge = new Gauge({
    name: "saldo_request_body_bytes",
    help: "Bytes of request bodies that are being received",
    registers: [registry],
    collect: () => gauge.set(servers.intake.bytesInFlight),
  });
  addCounter(registry, {
    name: "saldo_request_bodies_refused_total",
    help: "Request bodies that were not received: overloaded (the budget), uploads (of one key), slow",
    labelNames: ["reason"],
    read: () => Object.entries(servers.intake.refused).map(([reason, count]) => [{ reason }, count]),
  });
  addCounter(registry, {
    name: "saldo_connections_dropped_total",
    help: "Connections to the HTTP port that were closed as they came, because too many were open",
    labelNames: [],
    read: () => [[{}, servers.droppedConnections()]],
  });
}
