// A real PostgreSQL server inside the data folder, for whoever has none. It outlives the process that started it, when
// that is killed: the next process adopts it. Of several processes that start at once PostgreSQL's own lock lets one
// server through, and the others adopt that. A cluster is prepared beside its place and moved there whole, so that no
// half-made one is ever found. Only database.ts and the test fixture call this.

import { execFile, spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { createHash } from "node:crypto";
import { lstat, mkdir, mkdtemp, open, readFile, readdir, realpath, rename, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { clientConfig, withClient } from "./connections.ts";
import { findPostgresBinaries } from "./postgres-binaries.ts";
import type { PostgresBinaries } from "./postgres-binaries.ts";
import { isAlive, isPostmasterOf, readPostmaster, removeStalePostmaster } from "./postmaster.ts";
import type { Postmaster } from "./postmaster.ts";
import { chooseServerAccount, closedFolderOnTheWay, giveTo, giveTreeTo, makePrivateFolder } from "./server-account.ts";
import type { ServerAccount } from "./server-account.ts";

const run = promisify(execFile);

/** The superuser of the embedded server; the socket folder's mode is what keeps others out. */
const SUPERUSER = "postgres";
const DATABASE = "postgres";
const MAJOR_VERSION = "18";
/** Linux takes 107 bytes for a socket's path, macOS 103. */
const MAX_SOCKET_PATH_BYTES = 103;
const SOCKET_FILE = "/.s.PGSQL.5432";
/** Replaying the log after a crash is bounded by max_wal_size; nothing else takes long. */
const START_DEADLINE_MS = 120_000;
const STOP_DEADLINE_MS = 60_000;
const POLL_MS = 5;
const INITDB_TIMEOUT_MS = 60_000;
const MAX_LOG_BYTES = 10_000_000;
const LOG_TAIL_LINES = 8;

/** Settings for one machine that also runs the gateway. Durability is left as PostgreSQL has it: fully on. */
const SERVER_SETTINGS = {
  listen_addresses: "",
  max_connections: "100",
  shared_buffers: "256MB",
  wal_compression: "on",
  max_wal_size: "4GB",
  checkpoint_timeout: "15min",
  // What failed is reported to the client that asked; the server's log tells of the server.
  log_min_messages: "log",
  timezone: "UTC",
} as const;

/** A running embedded server. */
export type EmbeddedPostgres = {
  /** The folder of its socket, which is what a client gives as host. */
  readonly host: string;
  readonly user: string;
  readonly database: string;
  /** Whether this process started the server, and so may stop it. */
  readonly ownedByUs: boolean;
  /** Stops the server if this process started it and no other client is connected; otherwise leaves it running. */
  stop(options?: { evenWithClients: boolean }): Promise<void>;
};

type Cluster = {
  readonly dir: string;
  readonly logFile: string;
  readonly socketDir: string;
  readonly account: ServerAccount;
};

/** Returns the server of this data folder: the one that runs, or a new one. Errors name what to change. */
export async function startEmbeddedPostgres({ dataDir }: { dataDir: string }): Promise<EmbeddedPostgres> {
  const cluster = await locateCluster(dataDir);
  const deadline = Date.now() + START_DEADLINE_MS;
  let binaries: PostgresBinaries | undefined;
  while (Date.now() < deadline) {
    const living = await findLiving(cluster.dir);
    if (living === undefined) {
      binaries ??= await findPostgresBinaries(cluster.account);
      await ensureCluster(cluster, binaries);
      const started = await startServer(cluster, binaries, deadline);
      if (started !== undefined) return handleOf(cluster, started, true);
    } else if (living.ready && (await answers(living))) {
      return handleOf(cluster, living, false);
    }
    // Somebody else's server is starting, stopping or was quicker than ours: look again.
    await sleep(POLL_MS);
  }
  throw new Error(
    `The embedded PostgreSQL in ${cluster.dir} did not come up. Its log ends with:\n${await logTail(cluster)}`,
  );
}

async function locateCluster(dataDir: string): Promise<Cluster> {
  await mkdir(resolve(dataDir), { recursive: true, mode: 0o711 });
  const home = await realpath(dataDir);
  const dir = join(home, "postgres");
  const account = await chooseServerAccount(dir);
  const closed = await closedFolderOnTheWay(dir, account);
  if (closed !== undefined) {
    throw new Error(
      `PostgreSQL runs as user id ${account.identity.uid} because it refuses to run as root, and ${closed} is closed to ` +
        `that user. Set SALDO_DATA_DIR to a folder that every user can reach, such as /var/lib/saldo, or open ${closed} ` +
        `with chmod o+x.`,
    );
  }
  const socketDir = await makeSocketFolder(home, account);
  return { dir, logFile: join(home, "postgres.log"), socketDir, account };
}

// A socket's path is short by nature. Where the data folder's is too long, a folder of the temporary one stands in; it
// must be ours alone, because anybody can make one of that name there first.
async function makeSocketFolder(home: string, account: ServerAccount): Promise<string> {
  const beside = join(home, "socket");
  const fits = Buffer.byteLength(beside + SOCKET_FILE) <= MAX_SOCKET_PATH_BYTES;
  const folder = fits
    ? beside
    : join(tmpdir(), `saldo-${createHash("sha256").update(home).digest("hex").slice(0, 16)}`);
  const existing = await lstat(folder).catch(() => undefined);
  const owner = account.identity.uid ?? process.getuid?.();
  if (existing === undefined) await makePrivateFolder(folder, account);
  else if (!existing.isDirectory() || existing.uid !== owner || (existing.mode & 0o077) !== 0) {
    throw new Error(
      `The socket folder ${folder} must belong to user id ${owner} alone. Remove it, or set SALDO_DATA_DIR to another folder.`,
    );
  }
  return folder;
}

async function findLiving(clusterDir: string): Promise<Postmaster | undefined> {
  const found = await readPostmaster(clusterDir);
  if (found === undefined) return undefined;
  if (await isPostmasterOf(clusterDir, found.pid)) return found;
  if (isAlive(found.pid)) await removeStalePostmaster(clusterDir, found);
  return undefined;
}

async function answers({ socketDir }: Postmaster): Promise<boolean> {
  const config = clientConfig({ host: socketDir, user: SUPERUSER, database: DATABASE }, "saldo start");
  return withClient(config, (client) => client.query("SELECT")).then(
    () => true,
    () => false,
  );
}

async function ensureCluster({ dir, account }: Cluster, { initdb }: PostgresBinaries): Promise<void> {
  const version = await readFile(join(dir, "PG_VERSION"), "utf8").catch(() => undefined);
  if (version !== undefined) {
    if (version.trim() === MAJOR_VERSION) return giveTreeTo(dir, account);
    throw new Error(`${dir} was made by PostgreSQL ${version.trim()}; this Saldo brings PostgreSQL ${MAJOR_VERSION}.`);
  }
  await removeAbandonedDrafts(dir);
  const draft = await mkdtemp(`${dir}.draft-${process.pid}-`);
  try {
    await giveTo(draft, account);
    const options = ["-D", draft, "-U", SUPERUSER, "-A", "trust", "-E", "UTF8", "--locale=C"];
    await run(initdb, options, { ...account.identity, cwd: "/", timeout: INITDB_TIMEOUT_MS });
    await rename(draft, dir);
    await syncFolder(join(dir, ".."));
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    const { code } = error as NodeJS.ErrnoException;
    // Another starter's cluster is in place already, as good as ours.
    if (code !== "ENOTEMPTY" && code !== "EEXIST") throw error;
  }
}

async function removeAbandonedDrafts(dir: string): Promise<void> {
  const home = join(dir, "..");
  for (const name of await readdir(home)) {
    const pid = /^postgres\.draft-(\d+)-/.exec(name)?.[1];
    if (pid !== undefined && !isAlive(Number(pid))) await rm(join(home, name), { recursive: true, force: true });
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

/** Starts a server and waits until it serves. Undefined when it gave way to another one that runs already. */
async function startServer(
  cluster: Cluster,
  { postgres }: PostgresBinaries,
  deadline: number,
): Promise<Postmaster | undefined> {
  const child = await spawnServer(cluster, postgres);
  while (Date.now() < deadline) {
    const postmaster = await readPostmaster(cluster.dir);
    if (postmaster?.pid === child.pid && postmaster?.ready === true) {
      child.unref();
      return postmaster;
    }
    if (child.exitCode !== null || child.signalCode !== null) {
      if ((await findLiving(cluster.dir)) !== undefined || (await gaveWay(cluster))) return undefined;
      throw new Error(`The embedded PostgreSQL in ${cluster.dir} did not start:\n${await logTail(cluster)}`);
    }
    await sleep(POLL_MS);
  }
  child.kill("SIGINT");
  return undefined;
}

async function spawnServer({ dir, logFile, socketDir, account }: Cluster, postgres: string): Promise<ChildProcess> {
  const size = (await stat(logFile).catch(() => undefined))?.size ?? 0;
  const log = await open(logFile, size > MAX_LOG_BYTES ? "w" : "a", 0o600);
  try {
    const settings = Object.entries({ ...SERVER_SETTINGS, unix_socket_directories: socketDir });
    const child = spawn(postgres, ["-D", dir, ...settings.flatMap(([name, value]) => ["-c", `${name}=${value}`])], {
      ...account.identity,
      // Its own session: an interrupt typed at our terminal is not meant for the server.
      detached: true,
      cwd: dir,
      env: { PATH: process.env["PATH"] ?? "", LC_ALL: "C" },
      stdio: ["ignore", log.fd, log.fd],
    });
    await new Promise((done, fail) => child.once("spawn", done).once("error", fail));
    return child;
  } finally {
    await log.close();
  }
}

// The backends of a server that was killed hold its memory for a moment longer; PostgreSQL will not start beside them.
async function gaveWay(cluster: Cluster): Promise<boolean> {
  return /lock file "postmaster.pid" already exists|shared memory block .* is still in use/s.test(
    await logTail(cluster),
  );
}

async function logTail({ logFile }: Cluster): Promise<string> {
  const text = await readFile(logFile, "utf8").catch(() => "");
  return text.trimEnd().split("\n").slice(-LOG_TAIL_LINES).join("\n");
}

function handleOf({ dir }: Cluster, { pid, socketDir }: Postmaster, ownedByUs: boolean): EmbeddedPostgres {
  return {
    host: socketDir,
    user: SUPERUSER,
    database: DATABASE,
    ownedByUs,
    async stop({ evenWithClients } = { evenWithClients: false }) {
      if (ownedByUs && (evenWithClients || !(await hasOtherClients(socketDir)))) await stopServer(dir, pid);
    },
  };
}

async function hasOtherClients(socketDir: string): Promise<boolean> {
  const config = clientConfig({ host: socketDir, user: SUPERUSER, database: DATABASE }, "saldo stop");
  const others = await withClient(config, (client) =>
    client.query("SELECT FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"),
  );
  return others.rowCount !== 0;
}

async function stopServer(dir: string, pid: number): Promise<void> {
  if ((await readPostmaster(dir))?.pid !== pid || !(await isPostmasterOf(dir, pid))) return;
  process.kill(pid, "SIGINT");
  const deadline = Date.now() + STOP_DEADLINE_MS;
  while (await isPostmasterOf(dir, pid)) {
    if (Date.now() > deadline) throw new Error(`The embedded PostgreSQL in ${dir} did not stop in time.`);
    await sleep(POLL_MS);
  }
}
