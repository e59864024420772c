// The files of deploy/ as data: Kubernetes objects, the compose file, the unit, and the instructions of the Dockerfile.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse, parseAllDocuments } from "yaml";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));
export const DEPLOY = join(ROOT, "deploy");

/** Reads a file of the repository. */
export function read(path: string): string {
  return readFileSync(join(ROOT, path), "utf8");
}

/** The YAML files below deploy/, from the root of the repository. */
export function yamlFiles(): string[] {
  const names = readdirSync(DEPLOY, { recursive: true, encoding: "utf8" });
  return names.filter((name) => /\.ya?ml$/.test(name)).map((name) => `deploy/${name}`);
}

export type Container = {
  readonly name: string;
  readonly image: string;
  readonly args?: readonly string[];
  readonly env?: readonly { readonly name: string }[];
  readonly lifecycle?: unknown;
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly resources?: unknown;
  readonly securityContext: Readonly<Record<string, unknown>>;
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
};
export type PodTemplate = {
  readonly metadata: { readonly labels: Readonly<Record<string, string>> };
  readonly spec: {
    readonly terminationGracePeriodSeconds?: number;
    readonly securityContext: Readonly<Record<string, unknown>>;
    readonly containers: readonly Container[];
    readonly volumes: readonly Readonly<Record<string, unknown>>[];
  };
};
export type KubernetesObject = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: { readonly template?: PodTemplate };
};

/** The objects of a text. Errors: one where it is not YAML. */
export function objectsOf(text: string): KubernetesObject[] {
  return parseAllDocuments(text).map((document) => {
    if (document.errors.length > 0) throw new Error(document.errors.join("\n"));
    return document.toJS() as KubernetesObject;
  });
}

/** The objects of the Kustomize base as they are in its files. */
export function kubernetesObjects(): KubernetesObject[] {
  const { resources } = parse(read("deploy/kubernetes/kustomization.yaml")) as { resources: string[] };
  return resources.flatMap((name) => objectsOf(read(`deploy/kubernetes/${name}`)));
}

/** The pods that objects describe. */
export function templatesOf(objects: readonly KubernetesObject[]): PodTemplate[] {
  return objects.flatMap(({ spec }) => (spec?.template === undefined ? [] : [spec.template]));
}

export type ComposeService = {
  readonly image: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly secrets?: readonly string[];
  readonly stop_grace_period?: string;
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
};
type Compose = {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
};

/** The compose file. */
export function compose(): Compose {
  return parse(read("deploy/compose.yaml")) as Compose;
}

/** The values of each directive of the unit, in order. */
export function unitDirectives(): Map<string, string[]> {
  const lines = read("deploy/systemd/saldo.service").matchAll(/^([A-Za-z]+)=(.*)$/gm);
  const directives = new Map<string, string[]>();
  for (const [, name = "", value = ""] of lines) directives.set(name, [...(directives.get(name) ?? []), value]);
  return directives;
}

/** The variables that the unit sets, as they are in it. */
export function unitVariables(): Record<string, string> {
  return Object.fromEntries(
    (unitDirectives().get("Environment") ?? []).map((line) => {
      const [name = "", ...value] = line.split("=");
      return [name, value.join("=")];
    }),
  );
}

/** The instructions of the Dockerfile, with continued lines as one. */
export function dockerInstructions(): { readonly name: string; readonly words: string }[] {
  const text = read("deploy/Dockerfile")
    .replaceAll(/^#.*\n/gm, "")
    .replaceAll(/\\\n\s*/g, "");
  return Array.from(text.matchAll(/^([A-Z]+) (.*)$/gm), ([, name = "", words = ""]) => ({ name, words }));
}

export type AlertRule = {
  readonly alert: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
};

/** The alert rules for Prometheus. */
export function alertRules(): AlertRule[] {
  const { groups } = parse(read("deploy/prometheus/alerts.yml")) as { groups: { rules: AlertRule[] }[] };
  return groups.flatMap(({ rules }) => rules);
}

type Sourced = { readonly datasource: { readonly type: string; readonly uid: string } };
export type Dashboard = {
  readonly id?: number;
  readonly uid: string;
  readonly title: string;
  readonly schemaVersion: number;
  readonly templating: { readonly list: readonly { readonly name: string; readonly type: string }[] };
  readonly panels: readonly (Sourced & {
    readonly id: number;
    readonly title: string;
    readonly gridPos: { readonly x: number; readonly y: number };
    readonly fieldConfig: { readonly defaults: { readonly unit: string } };
    readonly targets: readonly (Sourced & { readonly expr: string })[];
  })[];
};

/** The Grafana dashboards. */
export function dashboards(): Dashboard[] {
  const folder = join(DEPLOY, "grafana/dashboards");
  return readdirSync(folder).map((name) => JSON.parse(readFileSync(join(folder, name), "utf8")) as Dashboard);
}

/** The queries of every Grafana dashboard and every alert rule. */
export function expressions(): string[] {
  const queries = dashboards().flatMap(({ panels }) => panels.flatMap(({ targets }) => targets));
  return [...queries, ...alertRules()].map(({ expr }) => expr);
}
