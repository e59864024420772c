// compose.yaml: parsed by docker-compose, and brought up by it with podman in the place of Docker. PostgreSQL and Prometheus are
// images made here. Grafana is in no package of Debian, so that service alone is not started.

import { type ChildProcess, spawn } from "node:child_process";
import { cp, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { packageVersion } from "../../../src/kernel/version.ts";
import { compose, expressions, DEPLOY } from "../deployed.ts";
import { Engine, eventually, type Outcome, run, runWell } from "../engine.ts";

const STARTED = ["postgres", "gateway", "prometheus"];

describe("compose.yaml", () => {
  const engine = new Engine(inject("engine"));
  const { folder } = engine.facts;
  const [tools, deploy, socket] = [join(folder, "tools"), join(folder, "deploy"), join(folder, "podman.sock")];
  let api: ChildProcess | null = null;

  beforeAll(async () => {
    await runWell("mmdebstrap", [
      "--quiet",
      "--variant=extract",
      "--include=docker-compose,prometheus",
      "trixie",
      tools,
    ]);
    await cp(DEPLOY, deploy, { recursive: true });
    await rm(join(deploy, "secrets"), { recursive: true, force: true });
    await runWell("sh", [join(deploy, "up.sh"), "--secrets-only"]);
  });
  afterAll(async () => {
    if (api !== null) {
      await composed("down", "--volumes", "--timeout=0");
      api.kill("SIGKILL");
    }
  });

  /** Runs docker-compose on the copy of deploy/, with podman as its server, and ports of the machine left alone. */
  function composed(...words: readonly string[]): Promise<Outcome> {
    const files = ["compose.yaml", "without-ports.yaml"].map((name) => `--file=${join(deploy, name)}`);
    const env = { ...process.env, DOCKER_HOST: `unix://${socket}` };
    return run(join(tools, "usr/libexec/docker/cli-plugins/docker-compose"), [...files, ...words], env);
  }

  it("gets secrets that only their owner reaches, and keeps those that are there", async () => {
    const secrets = join(deploy, "secrets");
    const names = await readdir(secrets);
    expect(names.toSorted()).toEqual(Object.keys(compose().secrets).toSorted());
    expect((await stat(secrets)).mode & 0o777).toBe(0o700);
    const texts = await Promise.all(names.map((name) => readFile(join(secrets, name), "utf8")));
    expect(texts.filter((text) => text.length < 64)).toEqual([]);
    await runWell("sh", [join(deploy, "up.sh"), "--secrets-only"]);
    expect(await Promise.all(names.map((name) => readFile(join(secrets, name), "utf8")))).toEqual(texts);
  });

  it("is accepted by docker-compose", async () => {
    await writeFile(join(deploy, "without-ports.yaml"), withoutPorts());
    const { code, stdout, stderr } = await composed("config", "--format=json");
    expect([code, stderr]).toEqual([0, ""]);
    const { services } = JSON.parse(stdout) as { services: Record<string, { image: string }> };
    expect(Object.keys(services).toSorted()).toEqual(["gateway", "grafana", "postgres", "prometheus"]);
    expect(services["gateway"]?.image).toBe(`saldo:${packageVersion()}`);
  });

  it("starts the gateway behind its database, and Prometheus reads the gateway", async () => {
    await makePrometheus();
    await mkdir(join(folder, "tmp"), { recursive: true });
    const { program, words, env } = engine.inside("podman", ["system", "service", "--time=0", `unix://${socket}`]);
    api = spawn(program, words, { env, stdio: "ignore" });
    await eventually("the engine listens", async () => (await stat(socket).catch(() => null)) !== null);
    let isUp = false;
    const up = composed("up", "--detach", "--no-build", ...STARTED).finally(() => {
      isUp = true;
    });
    // podman leaves the time of health checks to systemd.
    while (!isUp) {
      const { code } = await engine.tryPodman("exec", "saldo-postgres-1", "pg_isready");
      if (code === 0) await engine.tryPodman("healthcheck", "run", "saldo-postgres-1");
      await sleep(500);
    }
    const { code, stderr } = await up;
    expect([code, stderr]).toEqual([0, expect.stringContaining("saldo-gateway-1  Started")]);
    const gateway = await engine.addressOf("saldo-gateway-1");
    await eventually(
      "the gateway is ready",
      async () => (await fetch(`http://${gateway}:3000/readyz`).catch(() => null))?.status === 200,
    );
    expect((await engine.tryPodman("healthcheck", "run", "saldo-gateway-1")).code).toBe(0);
    const prometheus = `http://${await engine.addressOf("saldo-prometheus-1")}:9090`;
    const query = async (text: string): Promise<[number, string][]> => {
      const answer = await fetch(`${prometheus}/api/v1/query?query=${encodeURIComponent(text)}`);
      const { status, data } = (await answer.json()) as {
        status: string;
        data: { result: { value: [number, string] }[] };
      };
      if (status !== "success") throw new Error(`Prometheus refuses ${text}`);
      return data.result.map(({ value }) => value);
    };
    await eventually(
      "the gateway is scraped",
      async () => (await query('up{job="saldo"} == 1').catch(() => [])).length === 1,
    );
    expect((await query("saldo_audit_violations")).length).toBeGreaterThan(0);
    // Grafana would ask the same.
    for (const expression of expressions()) expect(await query(expression), expression).toBeInstanceOf(Array);
  });

  it("ends the gateway with 0 within its grace", async () => {
    expect((await composed("stop", "gateway")).code).toBe(0);
    expect(await engine.podman("inspect", "saldo-gateway-1", "--format={{.State.ExitCode}}")).toBe("0");
  });

  /** The image that compose.yaml names, of Debian's package. */
  async function makePrometheus(): Promise<void> {
    const root = join(folder, "prometheus-root");
    for (const name of ["usr/bin", "prometheus", "tmp", "etc"]) await mkdir(join(root, name), { recursive: true });
    await cp(join(tools, "usr/bin/prometheus"), join(root, "usr/bin/prometheus"));
    const container = await engine.buildah("from", "localhost/saldo-base");
    await engine.buildah("add", "--quiet", container, root, "/");
    await engine.buildah("config", "--entrypoint", '["prometheus"]', container);
    await engine.buildah(
      "commit",
      "--quiet",
      "--rm",
      container,
      `localhost/${compose().services["prometheus"]?.image}`,
    );
  }
});

/** Ports of the machine may be in use. */
function withoutPorts(): string {
  const services = Object.keys(compose().services).map((name) => `  ${name}: { ports: !reset [] }\n`);
  return `services:\n${services.join("")}`;
}
