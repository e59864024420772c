// The metrics in OpenMetrics' text, which has exemplars. The library's own writer renames its counters for good while it writes, so
// that the plain text has them under other names from then on.

import type { MetricObjectWithValues, MetricValue } from "prom-client";

export const OPEN_METRICS_TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/** A metric as prom-client hands it on. */
export type MeasuredMetric = MetricObjectWithValues<MetricValue<string>>;

type Exemplar = { readonly labelSet: Labels; readonly value: number; readonly timestamp: number };
type Labels = Readonly<Record<string, string | number | undefined>>;
type Sample = {
  readonly metricName?: string;
  readonly labels: Labels;
  readonly value: number;
  readonly exemplar?: unknown;
};

/** Whether a scraper asks for OpenMetrics. One that only takes everything gets the plain text. */
export function wantsOpenMetrics(accept: string | undefined): boolean {
  return (accept ?? "").split(",").some((each) => {
    const [type = "", ...parameters] = each.split(";").map((part) => part.trim().toLowerCase());
    const weight = parameters.find((part) => part.startsWith("q="))?.slice("q=".length);
    return type === "application/openmetrics-text" && (weight === undefined || Number(weight) > 0);
  });
}

/** Writes metrics of one process or of several; those of one name are one family. */
export function writeOpenMetrics(metrics: readonly MeasuredMetric[]): string {
  const lines = [...Map.groupBy(metrics, ({ name }) => name)].flatMap(([name, family]) => linesOf(name, family));
  return `${[...lines, "# EOF"].join("\n")}\n`;
}

function linesOf(name: string, family: readonly MeasuredMetric[]): string[] {
  const [first] = family;
  if (first === undefined) return [];
  // prom-client's types have numbers where its values have words.
  const type = String(first.type);
  // A counter is named without its ending, and its samples with it.
  const isCounter = type === "counter";
  const title = isCounter ? name.replace(/_total$/, "") : name;
  const samples = family.flatMap(({ values }) => values as readonly Sample[]);
  return [
    `# HELP ${title} ${escaped(first.help)}`,
    `# TYPE ${title} ${type}`,
    ...samples.map(
      ({ metricName, labels, value, exemplar }) =>
        `${isCounter ? `${title}_total` : (metricName ?? name)}${labelsOf(labels)} ${numberOf(value)}${exemplarOf(exemplar)}`,
    ),
  ];
}

function labelsOf(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(String(value))}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

function exemplarOf(exemplar: unknown): string {
  if (!isExemplar(exemplar)) return "";
  const { labelSet, value, timestamp } = exemplar;
  const pairs = Object.entries(labelSet).map(([name, each]) => `${name}="${escaped(String(each))}"`);
  return ` # {${pairs.join(",")}} ${numberOf(value)} ${timestamp}`;
}

function isExemplar(value: unknown): value is Exemplar {
  return typeof value === "object" && value !== null && "labelSet" in value && "timestamp" in value;
}

function numberOf(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return "+Inf";
  return value === Number.NEGATIVE_INFINITY ? "-Inf" : String(value);
}

function escaped(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll('"', '\\"');
}
