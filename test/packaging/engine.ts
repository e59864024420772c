// podman and buildah on a machine without a container service, and without control groups that they would accept: in a mount
// namespace of their own with the newer control groups, and with storage, networks and state in one folder.

import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";

/** What another process needs to use the same engine. */
export type EngineFacts = { readonly folder: string; readonly holder: number };

export type Outcome = { readonly code: number; readonly stdout: string; readonly stderr: string };

const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;
/** A bound, not a promise: machines that test are busy. */
const PATIENCE_MS = 120_000;
const PAUSE_MS = 200;
/** Keeps the namespace while commands come and go, and no longer than this process. */
const HOLD = "mount -t cgroup2 none /sys/fs/cgroup && echo held && exec cat";

/** Runs a program to its end; it may fail. */
export function run(program: string, words: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<Outcome> {
  return new Promise((resolve) => {
    execFile(program, [...words], { env, maxBuffer: MAX_OUTPUT_BYTES }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === "number" ? error.code : error === null ? 0 : -1, stdout, stderr });
    });
  });
}

/** Runs a program to its end. Gives its standard output. Errors: one with its output where it fails. */
export async function runWell(...[program, words, env]: Parameters<typeof run>): Promise<string> {
  const { code, stdout, stderr } = await run(program, words, env);
  if (code !== 0)
    throw new Error(`${program} ${words.join(" ")} ended with ${code}\n${stdout.slice(-4_000)}${stderr.slice(-4_000)}`);
  return stdout.trim();
}

/** Waits until something has become true. Errors: one that names it when it does not in time. */
export async function eventually(what: string, condition: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`waited in vain until ${what}`);
    await sleep(PAUSE_MS);
  }
}

export class Engine {
  readonly facts: EngineFacts;
  readonly #env: NodeJS.ProcessEnv;

  constructor(facts: EngineFacts) {
    this.facts = facts;
    const { folder } = facts;
    this.#env = {
      ...process.env,
      CONTAINERS_CONF: join(folder, "containers.conf"),
      CONTAINERS_STORAGE_CONF: join(folder, "storage.conf"),
      BUILDAH_ISOLATION: "chroot",
      TMPDIR: join(folder, "tmp"),
    };
  }

  /** Opens an engine in an empty folder. */
  static async open(folder: string): Promise<Engine> {
    await mkdir(join(folder, "tmp"));
    await writeFile(
      join(folder, "storage.conf"),
      `[storage]\ndriver = "overlay"\nrunroot = "${folder}/run"\ngraphroot = "${folder}/storage"\n`,
    );
    await writeFile(
      join(folder, "containers.conf"),
      [
        "[containers]",
        // The machine's controllers may belong to the older control groups, and there may be no right to raise limits.
        "pids_limit = 0",
        'default_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]',
        "[engine]",
        // crun raises the limit of locked memory before it makes a group.
        'runtime = "runc"\ncgroup_manager = "cgroupfs"\nevents_logger = "file"',
        // A short name is an image of this engine, not one of a registry.
        "compat_api_enforce_docker_hub = false",
        `tmp_dir = "${folder}/state"`,
        "[network]",
        `network_config_dir = "${folder}/networks"\n`,
      ].join("\n"),
    );
    const holder = spawn("unshare", ["--mount", "--propagation", "private", "sh", "-c", HOLD], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    if (holder.pid === undefined) throw new Error("unshare did not start");
    await Promise.race([
      once(holder.stdout, "data"),
      once(holder, "exit").then(([code]) => Promise.reject(new Error(`unshare ended with ${String(code)}`))),
    ]);
    return new Engine({ folder, holder: holder.pid });
  }

  /** A program and its words as they run inside. */
  inside(
    program: string,
    words: readonly string[],
  ): { readonly program: string; readonly words: string[]; readonly env: NodeJS.ProcessEnv } {
    const target = ["--target", String(this.facts.holder), "--mount", "--"];
    return { program: "nsenter", words: [...target, program, ...words], env: this.#env };
  }

  /** Runs podman. Gives its standard output. Errors: one with its output where it fails. */
  podman(...podmanWords: readonly string[]): Promise<string> {
    const { program, words, env } = this.inside("podman", podmanWords);
    return runWell(program, words, env);
  }

  /** Runs podman, which may fail. */
  tryPodman(...podmanWords: readonly string[]): Promise<Outcome> {
    const { program, words, env } = this.inside("podman", podmanWords);
    return run(program, words, env);
  }

  /** Runs buildah. Gives its standard output. Errors: one with its output where it fails. */
  buildah(...buildahWords: readonly string[]): Promise<string> {
    const { program, words, env } = this.inside("buildah", buildahWords);
    return runWell(program, words, env);
  }

  /** Makes an image of folders and archives, one over the other. */
  async makeImage(name: string, layers: readonly string[], ...settings: readonly string[]): Promise<void> {
    const container = await this.buildah("from", "scratch");
    for (const layer of layers) await this.buildah("add", "--quiet", container, layer, "/");
    if (settings.length > 0) await this.buildah("config", ...settings, container);
    await this.buildah("commit", "--quiet", "--rm", container, name);
  }

  /** The address of a container in a network. */
  async addressOf(container: string): Promise<string> {
    const found = await this.podman(
      "inspect",
      container,
      "--format",
      "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}",
    );
    if (found === "") throw new Error(`${container} has no address`);
    return found;
  }

  /** Plays objects of Kubernetes by podman. Gives the names of the pods. */
  async play(file: string, network: string): Promise<string[]> {
    await this.podman("kube", "play", "--start=false", `--network=${network}`, file);
    const created = await this.podman(
      "pod",
      "ps",
      "--filter=status=created",
      "--no-trunc",
      "--format={{.Id}} {{.Name}}",
    );
    const pods = created.split("\n").map((line) => line.split(" ") as [string, string]);
    for (const [id, name] of pods) {
      await this.#allowDevices(`/sys/fs/cgroup/libpod_parent/${id}`);
      await this.podman("pod", "start", name);
    }
    return pods.map(([, name]) => name);
  }

  /** podman 4.3 forbids the group of a pod every device, /dev/null included. */
  async #allowDevices(group: string): Promise<void> {
    const bpftool = (...bpftoolWords: readonly string[]): Promise<string> => {
      const { program, words, env } = this.inside("bpftool", ["--json", "cgroup", ...bpftoolWords]);
      return runWell(program, words, env);
    };
    const programs = JSON.parse((await bpftool("show", group)) || "[]") as { id: number; attach_type: string }[];
    for (const { id } of programs.filter(({ attach_type: type }) => /device/.test(type)))
      await bpftool("detach", group, "device", "id", String(id));
  }

  /** Removes every container and image, and ends the namespace. */
  async close(): Promise<void> {
    await this.podman("pod", "rm", "--all", "--force", "--time=0");
    await this.podman("rm", "--all", "--force", "--time=0");
    for (const kind of ["network", "volume", "image"]) await this.podman(kind, "prune", "--force");
    process.kill(this.facts.holder, "SIGKILL");
  }
}
