import { collectDefaultMetrics, Gauge, Registry } from "prom-client";
import type { GroupCommitLedger } from "./ledger/group-commit.ts";

/** The metrics of a process, read when they are asked for. */
export function createMetrics({ ledger }: { ledger: Pick<GroupCommitLedger, "statistics"> }): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const gauges = {
    groups: "Statements that committed a group of holds or settlements",
    members: "Holds and settlements committed",
    replays: "Groups that failed and were run again",
    lostConnections: "Connections of lanes that were lost",
    depth: "Holds and settlements waiting for a group",
  } as const;
  for (const [name, help] of Object.entries(gauges)) {
    const key = name as keyof typeof gauges;
    registry.registerMetric(
      new Gauge({
        name: `saldo_ledger_${name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`,
        help,
        registers: [],
        collect() {
          this.set(ledger.statistics()[key]);
        },
      }),
    );
  }
  return registry;
}
