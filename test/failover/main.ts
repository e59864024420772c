// `npm run failover-drill`: three machines with PostgreSQL, Patroni and etcd, two gateways and a load, on one machine. Each fault is
// followed by a comparison of what was acknowledged with the books. It needs root on a machine with Debian's packages.

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import process from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

const root = fileURLToPath(new URL("../..", import.meta.url));
const RELEASE = "trixie";
/** What the three machines run, and what this machine needs to make and start them. */
const PACKAGES = [
  "postgresql-17",
  "pgbackrest",
  "patroni",
  "python3-etcd",
  "python3-psycopg2",
  "etcd-server",
  "haproxy",
  "iproute2",
];
const PROGRAMS: Readonly<Record<string, string>> = {
  ip: "iproute2",
  mmdebstrap: "mmdebstrap",
  nsenter: "util-linux",
  setpriv: "util-linux",
  unshare: "util-linux",
};
const FOLDERS = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin", "/sbin"];
const USAGE = `npm run failover-drill -- [--failovers N] [--clients N] [--backup]

  --backup       instead of failovers: a server is backed up by pgBackRest under load, lost, and restored to a moment
  --failovers N  how often the leader is lost (4): killed, cut off, frozen, its PostgreSQL killed, in turn
  --clients N    how many customers send requests meanwhile (6)
`;

function run(program: string, words: readonly string[], env: NodeJS.ProcessEnv = process.env): number {
  return spawnSync(program, words, { cwd: root, stdio: "inherit", env }).status ?? 1;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

const isHere = (program: string): boolean => FOLDERS.some((folder) => existsSync(join(folder, program)));

/** Installs what this machine lacks. Returns whether all is there. */
function install(): boolean {
  const missing = Object.entries(PROGRAMS).flatMap(([program, name]) => (isHere(program) ? [] : [name]));
  if (missing.length === 0) return true;
  print(`Installing ${missing.join(", ")} from Debian's packages.`);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  return (
    run("apt-get", ["-qq", "update"], env) === 0 &&
    run("apt-get", ["-qq", "install", "--yes", "--no-install-recommends", ...missing], env) === 0
  );
}

/** Makes the system that the three machines share, once: nothing of it is installed on this machine. Null: it was not made. */
async function makeSystem(): Promise<string | null> {
  const tree = join(tmpdir(), `saldo-failover-${RELEASE}`);
  // One that a former version made lacks a program.
  if (existsSync(join(tree, "usr/bin/pgbackrest"))) return tree;
  print(`Making a system of ${PACKAGES.join(", ")} from Debian ${RELEASE} in ${tree}, some 700 MB.`);
  for (const former of [tree, `${tree}.part`]) await rm(former, { recursive: true, force: true });
  const words = ["--quiet", "--variant=minbase", `--include=${PACKAGES.join(",")}`, RELEASE, `${tree}.part`];
  if (run("mmdebstrap", words) !== 0) return null;
  await rename(`${tree}.part`, tree);
  return tree;
}

async function drill(): Promise<number> {
  const { values } = parseArgs({
    options: {
      failovers: { type: "string", default: "4" },
      clients: { type: "string", default: "6" },
      backup: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  const counts = [values.failovers, values.clients].map(Number);
  if (values.help || !counts.every((count) => Number.isInteger(count) && count > 0)) {
    process.stderr.write(USAGE);
    return values.help ? 0 : 2;
  }
  if (process.getuid?.() !== 0 || !isHere("apt-get")) {
    process.stderr.write("npm run failover-drill needs root on a machine with Debian's packages.\n");
    return 2;
  }
  if (!install()) return 1;
  const tree = await makeSystem();
  if (tree === null) return 1;
  return run("vitest", ["run", "--config", "test/failover/vitest.config.ts"], {
    ...process.env,
    DRILL_TREE: tree,
    DRILL_FAILOVERS: values.failovers,
    DRILL_CLIENTS: values.clients,
    DRILL_FILE: values.backup ? "test/failover/backup-drill.ts" : "test/failover/drill.ts",
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) process.exitCode = await drill();
