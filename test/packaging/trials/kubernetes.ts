// The Kustomize base with an overlay, as an operator writes one, rendered by kubectl and played by podman. podman has Deployments but
// no StatefulSets and no Jobs: the pods of both are given to it as they are, in a Deployment and in a pod. The Secret is made beside it.

import { mkdir, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { stringify } from "yaml";
import { packageVersion } from "../../../src/kernel/version.ts";
import { startDatabase } from "../database.ts";
import { DEPLOY, type KubernetesObject, objectsOf, type PodTemplate } from "../deployed.ts";
import { Engine, run, runWell } from "../engine.ts";

/** terminationGracePeriodSeconds of the base. */
const GRACE_SECONDS = 45;
const SECRET = "a secret of a trial that is long enough for what it is used for";

describe("the Kustomize base", () => {
  const engine = new Engine(inject("engine"));
  const folder = join(engine.facts.folder, "overlay");
  let rendered: KubernetesObject[];
  let files: Record<"gateway" | "migrate", string>;

  beforeAll(async () => {
    const { url, requestUrl } = await startDatabase(engine, "kubernetes");
    await mkdir(folder);
    const overlay = {
      apiVersion: "kustomize.config.k8s.io/v1beta1",
      kind: "Kustomization",
      resources: [relative(folder, join(DEPLOY, "kubernetes"))],
      images: [{ name: "saldo", newName: "localhost/saldo" }],
      patchesStrategicMerge: ["settings.yaml"],
    };
    await writeFile(join(folder, "kustomization.yaml"), stringify(overlay));
    const settings = { SALDO_PUBLIC_URL: "https://api.example.com", SALDO_CLEARTEXT_ALLOW: "http,metrics,database" };
    const patch = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "saldo" }, data: settings };
    await writeFile(join(folder, "settings.yaml"), stringify(patch));
    rendered = objectsOf(await runWell("kubectl", ["kustomize", folder]));
    // podman 4.3 hands the values of a Secret on as they are written, so they are not encoded here.
    const data = {
      "database-url": url,
      "database-request-url": requestUrl,
      "auth-secret": SECRET,
      "secrets-key": SECRET,
    };
    const secret = await writeObjects("secret.yaml", [
      { apiVersion: "v1", kind: "Secret", metadata: { name: "saldo" }, data },
    ]);
    await engine.podman("secret", "create", "saldo", secret);
    const [gateway, migrate] = ["StatefulSet", "Job"].map(
      (kind) => rendered.find((each) => each.kind === kind)?.spec?.template,
    );
    if (gateway === undefined || migrate === undefined) throw new Error("the base has no pods");
    const shared = rendered.filter(({ kind }) => kind === "ConfigMap");
    files = {
      gateway: await writeObjects("gateway.yaml", [...shared, deploymentOf(withoutLimits(gateway)), CLAIM]),
      migrate: await writeObjects("migrate.yaml", [...shared, podOf(withoutLimits(migrate))]),
    };
  });
  afterAll(async () => {
    await engine.podman("pod", "rm", "--all", "--force", "--time=0");
    await engine.podman("rm", "--force", "--time=0", "kubernetes-postgres");
  });

  async function writeObjects(name: string, objects: readonly object[]): Promise<string> {
    const path = join(folder, name);
    await writeFile(path, objects.map((each) => stringify(each)).join("---\n"));
    return path;
  }

  it("renders every object, with the image and the settings of the overlay", () => {
    expect(rendered.map(({ kind }) => kind).toSorted()).toEqual(
      [
        "ConfigMap",
        "Job",
        "NetworkPolicy",
        "PodDisruptionBudget",
        "PrometheusRule",
        "Service",
        "ServiceMonitor",
        "StatefulSet",
      ].toSorted(),
    );
    const images = rendered.flatMap(({ spec }) => spec?.template?.spec.containers.map(({ image }) => image) ?? []);
    expect(images).toEqual(images.map(() => `localhost/saldo:${packageVersion()}`));
    expect(rendered.find(({ kind }) => kind === "ConfigMap")?.data).toMatchObject({
      SALDO_PUBLIC_URL: "https://api.example.com",
      SALDO_HOST: "0.0.0.0",
    });
  });

  it("migrates an empty database by the Job's pod, which ends with 0", async () => {
    await engine.play(files.migrate, "kubernetes");
    const code = await engine.podman("wait", "saldo-migrate-migrate");
    const { stdout, stderr } = await engine.tryPodman("logs", "saldo-migrate-migrate");
    expect([code, stdout, stderr]).toEqual(["0", expect.stringMatching(/^\{.*\}\n$/), ""]);
    await engine.podman("kube", "down", files.migrate);
    // It leaves the folders of the pod, which are volumes to podman.
    await engine.podman("volume", "prune", "--force");
  });

  it("serves from the gateway's pod with its root read-only, and is ready", async () => {
    const [pod = ""] = await engine.play(files.gateway, "kubernetes");
    const infra = await engine.podman("pod", "inspect", pod, "--format={{.InfraContainerID}}");
    const [name, address] = [`${pod}-saldo`, await engine.addressOf(infra)];
    const statusOf = (port: number, path: string): Promise<string> =>
      run("curl", [
        "--silent",
        "--output",
        "/dev/null",
        "--write-out",
        "%{http_code}",
        `http://${address}:${port}${path}`,
      ]).then(({ stdout }) => stdout);
    await expect.poll(() => statusOf(3000, "/readyz"), { timeout: 120_000 }).toBe("200");
    expect(await statusOf(3000, "/healthz")).toBe("200");
    expect(await statusOf(9464, "/metrics")).toBe("200");
    const { HostConfig, Config } = (
      JSON.parse(await engine.podman("inspect", name)) as {
        HostConfig: { ReadonlyRootfs: boolean };
        Config: { User: string };
      }[]
    )[0] ?? { HostConfig: null, Config: null };
    expect([HostConfig?.ReadonlyRootfs, Config?.User]).toEqual([true, "10001:10001"]);
    // The production start has written the link of the first operator into the volume.
    const link = "/var/lib/saldo/operator-link";
    const mode = `console.log((require("node:fs").statSync("${link}").mode & 0o777).toString(8))`;
    expect(await engine.podman("exec", name, "node", "-e", mode)).toBe("600");
    // A container that ends by itself would be started again.
    await engine.podman("stop", `--time=${GRACE_SECONDS}`, name);
    expect(await engine.podman("inspect", name, "--format={{.State.ExitCode}}")).toBe("0");
  });
});

/** The claim of the StatefulSet, by the name that the pod's volume has. */
const CLAIM = {
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name: "data" },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
};

function deploymentOf(template: PodTemplate): object {
  const claim = { name: "data", persistentVolumeClaim: { claimName: "data" } };
  const spec = { ...template.spec, volumes: [...template.spec.volumes, claim] };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "saldo" },
    spec: { replicas: 1, selector: { matchLabels: template.metadata.labels }, template: { ...template, spec } },
  };
}

function podOf({ metadata, spec }: PodTemplate): object {
  return { apiVersion: "v1", kind: "Pod", metadata: { ...metadata, name: "saldo-migrate" }, spec };
}

/** The controllers that limits need may belong to the older control groups of the machine. */
function withoutLimits({ metadata, spec }: PodTemplate): PodTemplate {
  const containers = spec.containers.map((container) => ({ ...container, resources: {} }));
  return { metadata, spec: { ...spec, containers } };
}
