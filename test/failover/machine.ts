// A machine of the drill: a network, a process tree and mounts of its own, on a file system that all machines share. Killing its
// first process ends everything in it at once, as the loss of a machine does.

import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, readFile, readlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { setTimeout as sleep } from "node:timers/promises";

const execute = promisify(execFile);
const ACCOUNT = "postgres";
const BRIDGE = "saldo-drill";
const NETWORK = "10.77.0";
/** A bound, not a promise: machines that drill are busy. */
const PATIENCE_MS = 180_000;
const PAUSE_MS = 250;
/** The first process: it takes over those whose parents have ended. */
const FIRST = "trap : TERM; while :; do sleep 3600 & wait $!; done";

async function ip(...words: readonly string[]): Promise<void> {
  await execute("ip", words);
}

/** The network that connects the machines with each other and with this one. */
export async function openNetwork(): Promise<void> {
  await closeNetwork();
  await ip("link", "add", BRIDGE, "type", "bridge");
  await ip("address", "add", `${NETWORK}.1/24`, "dev", BRIDGE);
  await ip("link", "set", BRIDGE, "up");
}

/** Removes it, and what a drill left that was ended before its end. */
export async function closeNetwork(): Promise<void> {
  for (const number of [1, 2, 3]) await ip("netns", "delete", `${BRIDGE}-${number}`).catch(() => {});
  await ip("link", "delete", BRIDGE).catch(() => {});
}

export class Machine {
  readonly name: string;
  readonly address: string;
  readonly #folder: string;
  readonly #tree: string;
  readonly #network: string;
  readonly #cable: string;
  /** The pid of its first process on this machine. Null: it is off. */
  #first: number | null = null;

  private constructor(number: number, { folder, tree }: { folder: string; tree: string }) {
    this.name = `node${number}`;
    this.address = `${NETWORK}.1${number}`;
    this.#folder = join(folder, this.name);
    this.#tree = tree;
    this.#network = `${BRIDGE}-${number}`;
    this.#cable = `saldo-cable${number}`;
  }

  /** A machine that is off, with an empty disk. */
  static async make(number: number, where: { folder: string; tree: string }): Promise<Machine> {
    const machine = new Machine(number, where);
    await mkdir(machine.#folder, { recursive: true });
    await ip("netns", "add", machine.#network);
    await ip("link", "add", machine.#cable, "type", "veth", "peer", "name", "eth0", "netns", machine.#network);
    await ip("link", "set", machine.#cable, "master", BRIDGE, "up");
    await ip("-n", machine.#network, "link", "set", "lo", "up");
    await ip("-n", machine.#network, "address", "add", `${machine.address}/24`, "dev", "eth0");
    await ip("-n", machine.#network, "link", "set", "eth0", "up");
    return machine;
  }

  /** A file on its disk, as this machine sees it. */
  path(name: string): string {
    return join(this.#folder, name);
  }

  async turnOn(): Promise<void> {
    const { uid, gid } = await this.#account();
    await execute("chown", ["-R", `${uid}:${gid}`, this.#folder]);
    // Mounts belong to the machine and end with it.
    const mounts = [
      `mount -t proc proc ${this.#tree}/proc`,
      `mount --rbind /dev ${this.#tree}/dev`,
      `mount -t tmpfs tmpfs ${this.#tree}/tmp`,
      `mount -t tmpfs tmpfs ${this.#tree}/run`,
      `mkdir -p -m 1777 ${this.#tree}/run/postgresql`,
      `mount --bind ${this.#folder} ${this.#tree}/srv`,
    ];
    const alone = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--propagation", "private"];
    const shell = ["bash", "-c", `${mounts.join(" && ")} && echo on && ${FIRST}`];
    const child = spawn("ip", ["netns", "exec", this.#network, ...alone, ...shell], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    await Promise.race([
      once(child.stdout, "data"),
      once(child, "exit").then(([code]) => Promise.reject(new Error(`${this.name} ended with ${String(code)}`))),
    ]);
    const pid = child.pid ?? 0;
    const [first] = (await readFile(`/proc/${pid}/task/${pid}/children`, "utf8")).trim().split(" ").map(Number);
    if (first === undefined) throw new Error(`${this.name} has no first process`);
    this.#first = first;
  }

  /** Starts a program in it, by the account of the database. What it prints is in a file of its name. */
  async start(name: string, program: readonly string[], env: Readonly<Record<string, string>>): Promise<void> {
    // It becomes a child of the first process: nsenter would stop with a frozen child, and not take note of its end.
    const exec = ["sh", "-c", `cd /srv && { "$@" >>/srv/${name}.log 2>&1 </dev/null & }`, "sh", ...program];
    const all = [...this.#entering(env), ...exec];
    spawn(all[0] ?? "", all.slice(1), { stdio: "ignore" }).on("error", () => {});
    await eventually(`${name} runs on ${this.name}`, async () => (await this.#pidsOf(program[0] ?? "")).length > 0);
  }

  /** Runs a program in it to its end, by the same account, and returns what it prints. Errors: its exit code is not 0. */
  async run(program: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> {
    const all = [...this.#entering(env), "sh", "-c", 'cd /srv && exec "$@"', "sh", ...program];
    return (await execute(all[0] ?? "", all.slice(1), { maxBuffer: 64 * 1024 * 1024 })).stdout;
  }

  /** The words before a program: into its mounts, processes and network, and to the account. */
  #entering(env: Readonly<Record<string, string>>): string[] {
    const words = Object.entries(env).map(([key, value]) => `${key}=${value}`);
    const inside = ["nsenter", "--target", String(this.#first), "--mount", "--pid", "--net", "chroot", this.#tree];
    const asAccount = ["setpriv", `--reuid=${ACCOUNT}`, `--regid=${ACCOUNT}`, "--init-groups"];
    const path = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";
    return [...inside, ...asAccount, "env", "-i", path, "HOME=/srv", "LC_ALL=C.UTF-8", ...words];
  }

  /** Ends everything at once. */
  async kill(): Promise<void> {
    if (this.#first === null) return;
    const space = await spaceOf(this.#first);
    process.kill(this.#first, "SIGKILL");
    this.#first = null;
    await eventually(`${this.name} is off`, async () => (await processesIn(space)).length === 0);
  }

  /** Sends a signal to every process, or to those of a program. */
  async signal(signal: NodeJS.Signals, program?: string): Promise<void> {
    const pids = program === undefined ? await this.#pids() : await this.#pidsOf(program);
    for (const pid of pids) {
      // Its first process stays: the machine is frozen, or a program of it ends.
      if (pid === this.#first) continue;
      try {
        process.kill(pid, signal);
      } catch {
        // It has ended meanwhile.
      }
    }
  }

  /** Pulls the network's cable out, or puts it in. */
  async plug(isIn: boolean): Promise<void> {
    await ip("link", "set", this.#cable, isIn ? "up" : "down");
  }

  async #account(): Promise<{ uid: string; gid: string }> {
    const lines = (await readFile(join(this.#tree, "etc/passwd"), "utf8")).split("\n");
    const [, , uid = "", gid = ""] = lines.find((line) => line.startsWith(`${ACCOUNT}:`))?.split(":") ?? [];
    return { uid, gid };
  }

  async #pids(): Promise<number[]> {
    return this.#first === null ? [] : processesIn(await spaceOf(this.#first));
  }

  async #pidsOf(program: string): Promise<number[]> {
    const name = program.split("/").at(-1) ?? program;
    const pids = await this.#pids();
    const names = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/comm`, "utf8").catch(() => "")));
    return pids.filter((_, index) => names[index]?.trim() === name);
  }
}

/** The name of a process's tree. A process that has ended is in none. */
function spaceOf(pid: number): Promise<string> {
  return readlink(`/proc/${pid}/ns/pid`).catch(() => "");
}

async function processesIn(space: string): Promise<number[]> {
  const all = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const spaces = await Promise.all(all.map(spaceOf));
  return all.filter((_, index) => spaces[index] === space);
}

/** Waits until something is true. Errors: one that names it when it does not come in time. */
export async function eventually(what: string, condition: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!(await condition().catch(() => false))) {
    if (performance.now() > deadline) throw new Error(`waited in vain until ${what}`);
    await sleep(PAUSE_MS);
  }
}

/** Writes a file that the account of a machine reads. */
export function writeShared(path: string, text: string): Promise<void> {
  return writeFile(path, text, { mode: 0o644 });
}
