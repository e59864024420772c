import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { describe, expect, it } from "vitest";
import { type MeasuredMetric, wantsOpenMetrics, writeOpenMetrics } from "./open-metrics.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";

/** The metrics of a process with a label of its own. */
function registryOf(worker: string): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ worker });
  const registers = [registry];
  new Counter({ name: "saldo_asked_total", help: 'What "asks"\nand \\', labelNames: ["path"], registers }).inc({
    path: 'a"b\\c\nd',
  });
  new Gauge({ name: "saldo_share", help: "A share", registers }).set(Number.NaN);
  const durations = new Histogram({
    name: "saldo_seconds",
    help: "Seconds",
    buckets: [0.1, 1],
    enableExemplars: true,
    // The library refuses it in a registry of plain text, but for one that is added.
    registers: [],
  });
  registry.registerMetric(durations);
  durations.observe({ value: 0.05 });
  durations.observe({ value: 0.5, exemplarLabels: { trace_id: TRACE } });
  return registry;
}

const measured = async (registry: Registry): Promise<MeasuredMetric[]> => registry.getMetricsAsJSON();

describe("the metrics in OpenMetrics", () => {
  it("have the names of the plain text, an exemplar at its bucket, and an end", async () => {
    const text = writeOpenMetrics(await measured(registryOf("1")));
    const at = / # \{trace_id="4bf92f3577b34da6a3ce929d0e0e4736"\} 0\.5 (\d{10}(?:\.\d+)?)\n/.exec(text)?.[1] ?? "";
    expect(Math.abs(Number(at) - Date.now() / 1_000)).toBeLessThan(600);
    expect(text.replace(at, "NOW")).toBe(`# HELP saldo_asked What \\"asks\\"\\nand \\\\
# TYPE saldo_asked counter
saldo_asked_total{path="a\\"b\\\\c\\nd",worker="1"} 1
# HELP saldo_share A share
# TYPE saldo_share gauge
saldo_share{worker="1"} NaN
# HELP saldo_seconds Seconds
# TYPE saldo_seconds histogram
saldo_seconds_bucket{le="0.1",worker="1"} 1
saldo_seconds_bucket{le="1",worker="1"} 2 # {trace_id="${TRACE}"} 0.5 NOW
saldo_seconds_bucket{le="+Inf",worker="1"} 2
saldo_seconds_sum{worker="1"} 0.55
saldo_seconds_count{worker="1"} 2
# EOF
`);
  });

  it("are one family of all processes, and leave the plain text as it was", async () => {
    const one = registryOf("1");
    const before = await one.metrics();
    const text = writeOpenMetrics([...(await measured(one)), ...(await measured(registryOf("2")))]);
    expect(text.match(/^# TYPE saldo_asked counter$/gm)).toHaveLength(1);
    expect(text.match(/^saldo_asked_total\{/gm)).toHaveLength(2);
    expect(await one.metrics()).toBe(before);
    expect(before).not.toContain(TRACE);
  });

  it("are for scrapers that ask for them", () => {
    const prometheus =
      "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,text/plain;version=0.0.4;q=0.4,*/*;q=0.1";
    expect(wantsOpenMetrics(prometheus)).toBe(true);
    expect(wantsOpenMetrics("application/openmetrics-text")).toBe(true);
    for (const accept of [undefined, "*/*", "text/plain;version=0.0.4", "application/openmetrics-text;q=0"])
      expect(wantsOpenMetrics(accept)).toBe(false);
  });
});
