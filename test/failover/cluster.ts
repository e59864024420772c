// The cluster of the drill: three machines as deploy/ha describes them, by its own files, and HAProxy beside a gateway.

import { type ChildProcess, spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseEnv } from "node:util";
import { onServer } from "../setup/test-servers.ts";
import { closeNetwork, eventually, Machine, openNetwork, writeShared } from "./machine.ts";

const DEPLOYED = fileURLToPath(new URL("../../deploy/ha/", import.meta.url));
const MACHINES = [1, 2, 3];
/** The machine that deploy/ha/node.env is written for. */
const FIRST = { name: "node1", address: "10.77.0.11" };
const OWNER_PASSWORD = "drill";
const HAPROXY_PORT = 15_432;
const ANSWER_WITHIN_MS = 3_000;

type Settings = ReadonlyMap<Machine, Readonly<Record<string, string>>>;
type Member = { readonly name: string; readonly role: string; readonly state: string; readonly timeline?: number };

export class Cluster {
  readonly machines: readonly Machine[];
  readonly #settings: Settings;
  readonly #tree: string;
  #proxy: ChildProcess | null = null;

  private constructor(machines: readonly Machine[], settings: Settings, tree: string) {
    this.machines = machines;
    this.#settings = settings;
    this.#tree = tree;
  }

  /** Starts the machines, and makes a database and the login that owns it. */
  static async start({ folder, tree }: { folder: string; tree: string }): Promise<Cluster> {
    await openNetwork();
    const machines: Machine[] = [];
    for (const number of MACHINES) machines.push(await Machine.make(number, { folder, tree }));
    const env = await readFile(join(DEPLOYED, "node.env"), "utf8");
    const settings = new Map(machines.map((machine) => [machine, settingsOf(env, machine)]));
    const cluster = new Cluster(machines, settings, tree);
    const patroni = await readFile(join(DEPLOYED, "patroni.yaml"), "utf8");
    await Promise.all(machines.map((machine) => writeShared(machine.path("patroni.yaml"), patroni)));
    await Promise.all(machines.map((machine) => cluster.turnOn(machine)));
    await cluster.untilWhole();
    const superuser = await cluster.#superuserUrl();
    await onServer(superuser, `CREATE ROLE saldo LOGIN CREATEROLE PASSWORD '${OWNER_PASSWORD}'`);
    await onServer(superuser, "GRANT pg_monitor TO saldo");
    await onServer(superuser, "CREATE DATABASE saldo OWNER saldo");
    return cluster;
  }

  /** A URL that names all servers. */
  get url(): string {
    const hosts = this.machines.map(({ address }) => `${address}:5432`).join(",");
    return `postgres://saldo:${OWNER_PASSWORD}@${hosts}/saldo`;
  }

  /** A URL of HAProxy, which is started for it. */
  async proxyUrl(): Promise<string> {
    const mounted = `mount --bind ${DEPLOYED} ${this.#tree}/srv && exec chroot ${this.#tree} haproxy -db -f /srv/haproxy.cfg`;
    const nodes = this.machines.map(({ address }, index) => [`SALDO_HA_NODE${index + 1}`, address] as const);
    this.#proxy = spawn("unshare", ["--mount", "--propagation", "private", "bash", "-c", mounted], {
      env: {
        PATH: "/usr/sbin:/usr/bin:/sbin:/bin",
        SALDO_HA_LISTEN: `127.0.0.1:${HAPROXY_PORT}`,
        ...Object.fromEntries(nodes),
      },
      stdio: "ignore",
    });
    const url = `postgres://saldo:${OWNER_PASSWORD}@127.0.0.1:${HAPROXY_PORT}/saldo`;
    await eventually("HAProxy answers", async () => (await onServer(url, "SELECT 1")).rows.length === 1);
    return url;
  }

  /** The machine that has the leader. Null: no machine that is reached reports one. */
  async leader(besides?: Machine): Promise<Machine | null> {
    const asked = this.machines.filter((machine) => machine !== besides);
    const primaries = await Promise.all(asked.map(async (machine) => ((await isPrimary(machine)) ? machine : null)));
    return primaries.find((machine) => machine !== null) ?? null;
  }

  /** A machine with a standby. */
  async standby(): Promise<Machine> {
    const leader = await this.leader();
    const found = this.machines.find((machine) => machine !== leader);
    if (found === undefined) throw new Error("there is no standby");
    return found;
  }

  /** Starts a machine with its etcd and Patroni. */
  async turnOn(machine: Machine): Promise<void> {
    await machine.turnOn();
    await this.startEtcd(machine);
    await machine.start("patroni", ["/usr/bin/patroni", "/srv/patroni.yaml"], this.#of(machine));
  }

  startEtcd(machine: Machine): Promise<void> {
    return machine.start("etcd", ["/usr/bin/etcd"], { ...this.#of(machine), GOMAXPROCS: "1" });
  }

  /** Waits until there is a leader with two standbys that follow it, of which one confirms commits. */
  untilWhole(): Promise<void> {
    return eventually("the cluster is whole", async () => {
      const leader = await this.leader();
      if (leader === null) return false;
      const { members } = (await ask(leader, "/cluster")) as { members: Member[] };
      const following = members.filter(({ role, state }) => role.endsWith("standby") && state === "streaming");
      const confirming = following.filter(({ role }) => role !== "replica");
      return following.length === 2 && confirming.length > 0 && (await this.#etcdMembers()) === 3;
    });
  }

  async stop(): Promise<void> {
    this.#proxy?.kill("SIGKILL");
    await Promise.allSettled(this.machines.map((machine) => machine.kill()));
    await closeNetwork();
  }

  async #etcdMembers(): Promise<number> {
    const healthy = await Promise.all(
      this.machines.map(async ({ address }) => {
        const response = await fetch(`http://${address}:2379/health`, {
          signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
        });
        return (await response.text()).includes("true");
      }),
    );
    return healthy.filter(Boolean).length;
  }

  async #superuserUrl(): Promise<string> {
    const leader = await this.leader();
    const password = this.#settings.get(leader ?? this.#anyMachine())?.["PATRONI_SUPERUSER_PASSWORD"] ?? "";
    return `postgres://postgres:${password}@${leader?.address ?? ""}:5432/postgres`;
  }

  #anyMachine(): Machine {
    const [first] = this.machines;
    if (first === undefined) throw new Error("a cluster has machines");
    return first;
  }

  #of(machine: Machine): Readonly<Record<string, string>> {
    return this.#settings.get(machine) ?? {};
  }
}

/** The settings of a machine: those of the first one, with its own name and address in their places. */
function settingsOf(env: string, { name, address }: Machine): Record<string, string> {
  const shared = new Set(["PATRONI_ETCD3_HOSTS", "ETCD_INITIAL_CLUSTER"]);
  const own = { PATRONI_POSTGRESQL_DATA_DIR: "/srv/data", ETCD_DATA_DIR: "/srv/etcd" };
  const read = Object.entries(parseEnv(env)).map(([key, value = ""]) => {
    const isOwn = !shared.has(key);
    return [key, isOwn ? value.replaceAll(FIRST.address, address).replaceAll(FIRST.name, name) : value] as const;
  });
  // parseEnv takes the quotes of a whole value away; these are within it.
  const hosts = MACHINES.map((number) => `'10.77.0.1${number}:2379'`).join(",");
  return { ...Object.fromEntries(read), ...own, PATRONI_ETCD3_HOSTS: hosts };
}

async function isPrimary({ address }: Machine): Promise<boolean> {
  const options = { method: "OPTIONS", signal: AbortSignal.timeout(ANSWER_WITHIN_MS) };
  return (await fetch(`http://${address}:8008/primary`, options).catch(() => null))?.status === 200;
}

async function ask({ address }: Machine, path: string): Promise<unknown> {
  return (await fetch(`http://${address}:8008${path}`, { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) })).json();
}
