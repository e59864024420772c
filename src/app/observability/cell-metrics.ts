// The metrics of a process with several cells: those of the process and the home cell, and those of each other cell, with the label
// `cell`.

import { AggregatorRegistry, Gauge, Registry } from "prom-client";

/** The metrics of a process, whichever registries they are in. */
export type ProcessMetrics = Pick<Registry, "metrics" | "contentType" | "getMetricsAsJSON"> & {
  setDefaultLabels(labels: Readonly<Record<string, string>>): void;
};

/** A cell with its registry; null while it was not opened. */
export type CellMetrics = { readonly name: string; readonly registry: () => Registry | null };

/** Puts them together. */
export function metricsOfCells(home: Registry, homeName: string, others: readonly CellMetrics[]): ProcessMetrics {
  const open = new Registry();
  const gauge: Gauge<"cell"> = new Gauge({
    name: "saldo_cell_open",
    help: "1 once this process serves the accounts of a cell; 0 while its database was not reached since the start",
    labelNames: ["cell"],
    registers: [open],
    collect() {
      for (const { name, registry } of others) gauge.set({ cell: name }, registry() === null ? 0 : 1);
    },
  });
  let common: Readonly<Record<string, string>> = {};
  const label = (): Registry[] => {
    home.setDefaultLabels({ ...common, cell: homeName });
    open.setDefaultLabels(common);
    const opened = others.flatMap(({ name, registry }) => {
      const found = registry();
      found?.setDefaultLabels({ ...common, cell: name });
      return found ?? [];
    });
    return [home, open, ...opened];
  };
  const collect = () => Promise.all(label().map((registry) => registry.getMetricsAsJSON()));
  return {
    contentType: home.contentType,
    metrics: async () => AggregatorRegistry.aggregate(await collect()).metrics(),
    getMetricsAsJSON: async () => (await collect()).flat(),
    setDefaultLabels(labels) {
      common = labels;
    },
  };
}
