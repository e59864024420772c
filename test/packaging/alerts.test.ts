// The alert rules, run in Prometheus' own tester: each fires in its case, nothing else does, and each has its line in the runbook.
// `npm run alerts` writes the copy for Kubernetes.

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, type TestContext } from "vitest";
import { parse, stringify } from "yaml";
import { findPromtool, programOf } from "../setup/promtool.ts";
import { ALERT_CASES, type AlertCase } from "./alert-cases.ts";
import { alertRules, dashboards, DEPLOY, read } from "./deployed.ts";

const RULES = join(DEPLOY, "prometheus/alerts.yml");
const rules = alertRules();

/** Runs promtool on a file that is written for it. Without one the test ends here and shows why; on CI it fails. */
function promtool(context: TestContext, words: readonly string[], document: unknown): { ok: boolean; output: string } {
  const found = findPromtool();
  const path = programOf(found) ?? context.skip("missing" in found ? found.missing : "");
  const folder = mkdtempSync(join(tmpdir(), "saldo-promtool-"));
  try {
    const file = join(folder, "given.yml");
    writeFileSync(file, stringify(document));
    const { status, stdout, stderr } = spawnSync(path, [...words, file], { encoding: "utf8" });
    return { ok: status === 0, output: `${stdout}${stderr}` };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** What promtool expects of one alert in a case. */
function expected(alert: string, { fires }: AlertCase): unknown[] {
  const rule = rules.find((each) => each.alert === alert);
  if (fires === null || rule === undefined) return [];
  const filled = (text: string): string =>
    text.replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_, name) => fires[name] ?? "");
  const { annotations, labels } = rule;
  const texts = Object.entries(annotations).map(([name, text]) => [name, filled(text)]);
  return [{ exp_labels: { ...labels, ...fires }, exp_annotations: Object.fromEntries(texts) }];
}

function testOf(given: AlertCase): unknown {
  const looked = rules.map(({ alert }) => alert).filter((alert) => given.also?.includes(alert) !== true);
  return {
    interval: "1m",
    input_series: Object.entries(given.series).map(([series, values]) => ({ series, values })),
    alert_rule_test: looked.map((alertname) => ({
      eval_time: given.at,
      alertname,
      exp_alerts: alertname === given.alert ? expected(alertname, given) : [],
    })),
  };
}

/** Cases of 25 minutes and more, all whole fives, are evaluated less often: each evaluation is one of every rule. */
const isLong = ({ at }: AlertCase): boolean => /h/.test(at) || (Number.parseInt(at, 10) >= 25 && /[05]m$/.test(at));

const testsOf = (cases: readonly AlertCase[]): unknown => ({
  rule_files: [RULES],
  evaluation_interval: cases.every(isLong) ? "5m" : "1m",
  tests: cases.map(testOf),
});

describe("the alert rules", () => {
  it("are not passed over on CI where their tester is missing", () => {
    const missing = { missing: "there is no network" };
    expect(() => programOf(missing, true)).toThrow("The alert rules were not tested: there is no network");
    expect(programOf(missing, false)).toBeNull();
    expect(programOf({ path: "/usr/bin/promtool" }, true)).toBe("/usr/bin/promtool");
  });

  // The tester takes 20 s of a core, and on a busy machine minutes: its end is waited for.
  it("fire in their cases, and all others are silent then", { timeout: 900_000 }, (context) => {
    for (const cases of [ALERT_CASES.filter((each) => !isLong(each)), ALERT_CASES.filter(isLong)]) {
      const { ok, output } = promtool(context, ["test", "rules"], testsOf(cases));
      expect(ok, output.slice(0, 8_000)).toBe(true);
    }
    // The tester does compare: a silent case that is expected to fire fails.
    const wrong = ALERT_CASES.filter(({ fires }) => fires === null)
      .slice(0, 1)
      .map((each) => ({ ...each, fires: { instance: "a" } }));
    expect(promtool(context, ["test", "rules"], testsOf(wrong)).ok).toBe(false);
  });

  it("have a case that fires and one that does not, each of them", () => {
    const names = rules.map(({ alert }) => alert);
    expect(names.length).toBeGreaterThan(40);
    expect(new Set(names).size).toBe(names.length);
    const firing = new Set(ALERT_CASES.flatMap(({ alert, fires }) => (fires === null ? [] : [alert])));
    const silent = new Set(ALERT_CASES.flatMap(({ alert, fires }) => (fires === null ? [alert] : [])));
    expect([...firing].toSorted()).toEqual(names.toSorted());
    expect([...silent].toSorted()).toEqual(names.toSorted());
  });

  it("have a severity, a summary and a line in the runbook, which has no line without a rule", () => {
    const lines = read("deploy/ALARMS.md")
      .split("\n")
      .filter((line) => /^\| (?:<a|Saldo)/.test(line));
    const anchors = lines.flatMap((line) => Array.from(line.matchAll(/<a id="(\w+)"><\/a>(\w+)/g)));
    for (const [, id, name] of anchors) expect(name?.toLowerCase()).toBe(id);
    expect(anchors.map(([, , name = ""]) => name).toSorted()).toEqual(rules.map(({ alert }) => alert).toSorted());
    for (const { alert, expr, labels, annotations } of rules) {
      expect(["page", "ticket"]).toContain(labels["severity"]);
      expect(annotations["summary"]?.split(" ").length, alert).toBeLessThanOrEqual(25);
      expect(annotations["runbook"]).toBe(`deploy/ALARMS.md#${alert.toLowerCase()}`);
      const own = lines.filter((line) => new RegExp(`\\b${alert}\\b`).test(line));
      // Each line of an alert is about a metric of its expression.
      for (const line of own) expect(expr).toContain(/`(\w+)`/.exec(line)?.[1]);
    }
  });

  it("are the same on Kubernetes", async () => {
    const [head, ...groups] = read("deploy/prometheus/alerts.yml").split(/^(?=groups:)/m);
    expect(head).toMatch(/^#/);
    const indented = groups
      .join("")
      .trimEnd()
      .replaceAll(/^(?=.)/gm, "  ");
    const document = `# Written by \`npm run alerts\` from deploy/prometheus/alerts.yml. Remove it with a patch where the Prometheus operator is not installed.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: saldo
  labels: { app.kubernetes.io/name: saldo }
spec:
${indented}
`;
    await expect(document).toMatchFileSnapshot(join(DEPLOY, "kubernetes/alerts.yaml"));
    const { spec } = parse(document) as { spec: unknown };
    expect(spec).toEqual(parse(read("deploy/prometheus/alerts.yml")));
  });

  it("are read by the Prometheus of compose", () => {
    const { rule_files } = parse(read("deploy/prometheus/prometheus.yml")) as { rule_files: string[] };
    expect(rule_files).toEqual(["alerts.yml"]);
  });
});

describe("the Grafana dashboards", () => {
  it("have queries that Prometheus parses", (context) => {
    const queries = dashboards().flatMap(({ panels }) =>
      panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
    );
    expect(queries.length).toBeGreaterThan(30);
    const recording = queries.map((expr, number) => ({ record: `query:${number}`, expr }));
    const check = (each: unknown): boolean =>
      promtool(context, ["check", "rules"], { groups: [{ name: "queries", rules: each }] }).ok;
    expect(check(recording)).toBe(true);
    expect(check([{ record: "query:wrong", expr: "rate(saldo_drains[5m]" }])).toBe(false);
  });

  it("are what Grafana provisions: a fixed uid, the data source as a variable, a unit and a place for each panel", () => {
    const all = dashboards();
    expect(all.map(({ uid }) => uid).toSorted()).toEqual([
      "saldo-database",
      "saldo-money",
      "saldo-payouts",
      "saldo-service",
      "saldo-upstreams",
    ]);
    for (const { id, schemaVersion, templating, panels, title } of all) {
      expect(id).toBeUndefined();
      expect(schemaVersion).toBeGreaterThanOrEqual(39);
      expect(templating.list.map(({ name, type }) => `${type} ${name}`)).toEqual(["datasource datasource"]);
      expect(new Set(panels.map((panel) => panel.id)).size).toBe(panels.length);
      const places = panels.map(({ gridPos: { x, y } }) => `${x} ${y}`);
      expect(new Set(places).size, title).toBe(panels.length);
      for (const panel of panels) {
        expect(panel.fieldConfig.defaults.unit, panel.title).toMatch(/\w/);
        for (const { datasource } of [panel, ...panel.targets])
          expect(datasource).toEqual({ type: "prometheus", uid: "${datasource}" });
      }
    }
  });
});
