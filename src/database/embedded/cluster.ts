// The files of the embedded server: their place, their owner and their creation. A cluster is prepared beside its place and
// moved there whole, so that no process ever finds a half-made one.

import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { createHash } from "node:crypto";
import { lstat, mkdir, mkdtemp, open, readFile, readdir, realpath, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join, resolve } from "node:path";
import type { PostgresBinaries } from "./postgres-binaries.ts";
import { SOCKET_NAME, isAlive } from "./postmaster.ts";
import { chooseServerAccount, closedFolderOnTheWay, giveTo, giveTreeTo, makePrivateFolder } from "./server-account.ts";
import type { ServerAccount } from "./server-account.ts";
import { errorCode } from "../system-error.ts";

/** The superuser of the embedded server. Users in the access rules may log in as it. */
export const SUPERUSER = "postgres";
/** The version that this Saldo brings. */
export const MAJOR_VERSION = "18";
/** Linux takes 107 bytes for a socket's path, macOS 103. */
const MAX_SOCKET_PATH_BYTES = 103;
const INITDB_TIMEOUT_MS = 60_000;
const REMOVE = { recursive: true, force: true } as const;

/** Where the files of one embedded server are. */
export type Cluster = {
  readonly dir: string;
  readonly logFile: string;
  readonly socketDir: string;
  readonly account: ServerAccount;
  /** Whether the server's account cannot reach `dir` by its path. */
  readonly closedOff: boolean;
};

/** Finds out where a data folder's cluster is or will be. */
export async function locateCluster(dataDir: string): Promise<Cluster> {
  await mkdir(resolve(dataDir), { recursive: true, mode: 0o711 });
  const home = await realpath(dataDir);
  const dir = join(home, "postgres");
  const account = await chooseServerAccount(dir);
  const closed = await closedFolderOnTheWay(dir, account);
  if (closed !== undefined && process.platform !== "linux") {
    throw new Error(
      `PostgreSQL refuses to run as root, and ${closed} is closed to user id ${account.identity.uid}, as which it runs. ` +
        `Set SALDO_DATA_DIR to a folder that every user can reach, or open ${closed} with chmod o+x.`,
    );
  }
  const closedOff = closed !== undefined;
  return {
    dir,
    logFile: join(home, "postgres.log"),
    socketDir: await socketFolder(home, account, closedOff),
    account,
    closedOff,
  };
}

/** Makes the cluster unless there is one. */
export async function ensureCluster(cluster: Cluster, { initdb }: PostgresBinaries): Promise<void> {
  const { dir, account } = cluster;
  const version = await readFile(join(dir, "PG_VERSION"), "utf8").catch(() => undefined);
  if (version !== undefined) {
    if (version.trim() === MAJOR_VERSION) return giveTreeTo(dir, account);
    throw new Error(
      `${dir} was made by PostgreSQL ${version.trim()}, and this Saldo brings PostgreSQL ${MAJOR_VERSION}. ` +
        `Set SALDO_DATA_DIR to another folder, or start the Saldo version that made it.`,
    );
  }
  await removeAbandonedDrafts(dir);
  const draft = await mkdtemp(`${dir}.draft-${process.pid}-`);
  try {
    await giveTo(draft, { identity: account.maker });
    await runInitdb({ ...cluster, dir: draft }, initdb);
    await giveTreeTo(draft, account);
    await rename(draft, dir);
    await syncFolder(join(dir, ".."));
  } catch (error) {
    await rm(draft, REMOVE);
    // Another starter's cluster is in place already, as good as ours.
    if (errorCode(error) !== "ENOTEMPTY" && errorCode(error) !== "EEXIST") throw error;
  }
}

/**
 * Writes the access rules: by the socket, and only for the user that runs this process, root, or the server's own. PostgreSQL asks
 * the system for the user at the other end. Older clusters accepted every user that reached the socket.
 */
export async function writeAccessRules({ dir, account }: Cluster): Promise<void> {
  const users = new Set(["root", userInfo().username]);
  const files = {
    "pg_hba.conf": ["all", "replication"].map((what) => `local ${what} all peer map=saldo\n`).join(""),
    "pg_ident.conf": [...users].map((user) => `saldo "${user}" all\n`).join(""),
  };
  for (const [name, text] of Object.entries(files)) {
    const file = join(dir, name);
    if ((await readFile(file, "utf8")) === text) continue;
    await writeFile(file, text, { mode: 0o600 });
    await giveTo(file, account);
  }
}

/**
 * Runs a PostgreSQL program on the cluster as the server's account, with its output in the log file. Where that account
 * cannot reach the folder by its path, as under root's home, the program is handed the opened folder instead.
 */
export async function spawnOnCluster(
  program: string,
  args: readonly string[],
  cluster: Cluster,
  identity = cluster.account.identity,
): Promise<ChildProcess> {
  const log = await open(cluster.logFile, "a", 0o600);
  const folder = cluster.closedOff ? await open(cluster.dir) : undefined;
  try {
    const child = spawn(program, ["-D", folder === undefined ? cluster.dir : "/proc/self/fd/3", ...args], {
      ...identity,
      // Its own session: an interrupt typed at our terminal is not meant for the server.
      detached: true,
      cwd: "/",
      // initdb finds a shell here; everything of ours is named by its whole path.
      env: { PATH: "/usr/local/bin:/usr/bin:/bin", LC_ALL: "C" },
      stdio: ["ignore", log.fd, log.fd, folder?.fd ?? "ignore"],
    });
    await new Promise((done, fail) => child.once("spawn", done).once("error", fail));
    return child;
  } finally {
    await log.close();
    await folder?.close();
  }
}

async function runInitdb(draft: Cluster, initdb: string): Promise<void> {
  const args = ["-U", SUPERUSER, "-A", "peer", "-E", "UTF8", "--locale=C"];
  const child = await spawnOnCluster(initdb, args, draft, draft.account.maker);
  const timer = setTimeout(() => child.kill("SIGTERM"), INITDB_TIMEOUT_MS);
  const status = await new Promise((done) => child.once("exit", (code, signal) => done(code ?? signal)));
  clearTimeout(timer);
  if (status !== 0) throw new Error(`initdb ended with ${String(status)}; ${draft.logFile} says why.`);
}

// A socket's path is short by nature. Where the data folder's is too long or cannot be reached, a folder of the temporary
// one is used; it must be the server's alone, because any user can make one of that name there first.
async function socketFolder(home: string, account: ServerAccount, closedOff: boolean): Promise<string> {
  const beside = join(home, "socket");
  const fits = Buffer.byteLength(join(beside, SOCKET_NAME)) <= MAX_SOCKET_PATH_BYTES;
  const name = createHash("sha256").update(home).digest("hex").slice(0, 16);
  const folder = fits && !closedOff ? beside : join(tmpdir(), `saldo-${name}`);
  await makePrivateFolder(folder, account);
  const { uid, mode } = await lstat(folder);
  const owner = account.identity.uid ?? process.getuid?.();
  if (uid !== owner || (mode & 0o077) !== 0) {
    throw new Error(
      `The socket folder ${folder} must belong to user id ${owner} alone. Remove it, or set SALDO_DATA_DIR to another folder.`,
    );
  }
  return folder;
}

async function removeAbandonedDrafts(dir: string): Promise<void> {
  const home = join(dir, "..");
  for (const name of await readdir(home)) {
    const pid = /^postgres\.draft-(\d+)-/.exec(name)?.[1];
    if (pid === undefined || isAlive(Number(pid))) continue;
    await rm(join(home, name), REMOVE).catch(() => {
      // An initdb without its starter may still be writing there. The next start tries again.
    });
  }
}

// Without this a power cut could forget the move, and with it everything that was written since.
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
