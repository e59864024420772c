// A real PostgreSQL server inside the data folder, for operators without one. It outlives the process that started it, when
// that is killed: the next process adopts it. Of several processes that start at once PostgreSQL's own lock accepts one
// server through, and the others adopt that. Only database.ts and the test fixture call this.

import { readFile, stat, truncate } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { Client, ClientConfig } from "pg";
import { SUPERUSER, ensureCluster, locateCluster, spawnOnCluster, writeAccessRules } from "./cluster.ts";
import type { Cluster } from "./cluster.ts";
import { clientConfig, connectClient, withClient } from "../connections.ts";
import { findPostgresBinaries } from "./postgres-binaries.ts";
import { isPostmasterOf, readPostmaster, removeMisleadingLocks } from "./postmaster.ts";
import type { Postmaster } from "./postmaster.ts";

export const EMBEDDED_DATABASE = "postgres";
/** Replaying the log after a crash is bounded by max_wal_size; nothing else takes long. */
const START_DEADLINE_MS = 120_000;
/** A backup may have a month of the log behind it. */
const RECOVER_DEADLINE_MS = 24 * 3_600_000;
const STOP_DEADLINE_MS = 60_000;
const POLL_MS = 5;
/** How long to wait for a server of another process that starts or stops in the folder. */
const GIVE_WAY_MS = 25;
const LEAVING_MS = 250;
const REVIVE_PAUSE_MS = 1_000;
const MAX_LOG_BYTES = 10_000_000;

/** Settings for one machine that also runs the gateway. Durability is left as PostgreSQL has it: fully on. */
const SERVER_SETTINGS = {
  listen_addresses: "",
  port: "5432",
  // Sixteen workers with all their connections (see README), and commands beside them.
  max_connections: "400",
  shared_buffers: "256MB",
  wal_compression: "on",
  // What a receiver of the log that stays away may keep of the disk (../backup).
  max_slot_wal_keep_size: "8GB",
  max_wal_size: "4GB",
  checkpoint_timeout: "15min",
  // Failed statements are reported to their client; the server's log is about the server.
  log_min_messages: "log",
  timezone: "UTC",
} as const;

/** The address of an embedded server, and its login. */
export type EmbeddedAddress = {
  /** The folder of its socket, which is what a client gives as host. */
  readonly host: string;
  readonly user: string;
  readonly database: string;
};

/** A running embedded server. While this handle is open it is brought back when it dies. */
export type EmbeddedPostgres = EmbeddedAddress & {
  /** Whether this process started the server, and so may stop it. */
  readonly ownedByUs: boolean;
  /** Releases the server, and stops it if this process started it and no other client is connected. */
  stop(options?: { evenWithClients: boolean }): Promise<void>;
};

/** What a postmaster must be before it is used. */
type Awaited = "serving" | "isPrimary";

/** A server that answers, with the connection that shows other processes that we use it. */
type Attached = { readonly pid: number; readonly started: boolean; readonly presence: Client };

/** The address of the server of this data folder, for a process whose parent runs it. */
export async function findEmbeddedAddress({ dataDir }: { dataDir: string }): Promise<EmbeddedAddress> {
  const { socketDir } = await locateCluster(dataDir);
  return { host: socketDir, user: SUPERUSER, database: EMBEDDED_DATABASE };
}

/** `recovers`: the server recovers a backup first, and serves when it is a primary. */
export type StartOptions = {
  readonly dataDir: string;
  readonly recovers?: boolean;
  /** Further settings, of a server that this process starts. */
  readonly settings?: Readonly<Record<string, string>>;
};

/** Returns the server of this data folder: the one that runs, or a new one. Errors name what to change. */
export async function startEmbeddedPostgres({
  dataDir,
  recovers = false,
  settings = {},
}: StartOptions): Promise<EmbeddedPostgres> {
  const cluster = await locateCluster(dataDir);
  let attached = await attach(cluster, { settings, recovers });
  let ownPid = attached.started ? attached.pid : undefined;
  const released = new AbortController();
  let reviving: Promise<void> = Promise.resolve();

  // The presence connection ends at the same moment as the server, for every cause.
  function watch(): void {
    attached.presence.once("end", () => {
      reviving = revive();
    });
  }
  async function revive(): Promise<void> {
    while (!released.signal.aborted) {
      try {
        attached = await attach(cluster, { settings });
        if (attached.started) ownPid = attached.pid;
        watch();
        return;
      } catch {
        // The server's log has the reason; callers that need the database meanwhile get the error that it is away.
        await sleep(REVIVE_PAUSE_MS, undefined, { signal: released.signal }).catch(() => undefined);
      }
    }
  }

  watch();
  return {
    host: cluster.socketDir,
    user: SUPERUSER,
    database: EMBEDDED_DATABASE,
    get ownedByUs() {
      return ownPid === attached.pid;
    },
    async stop({ evenWithClients } = { evenWithClients: false }) {
      released.abort();
      await reviving;
      const { pid, presence } = attached;
      await presence.end();
      if (ownPid !== pid) return;
      if (evenWithClients || !(await isUsedByOthers(superuserOf(cluster.socketDir))))
        await stopServer(cluster.dir, pid);
    },
  };
}

async function attach(
  cluster: Cluster,
  { settings, recovers = false }: { settings: Readonly<Record<string, string>>; recovers?: boolean },
): Promise<Attached> {
  const deadline = Date.now() + (recovers ? RECOVER_DEADLINE_MS : START_DEADLINE_MS);
  const awaited: Awaited = recovers ? "isPrimary" : "serving";
  let startedPid: number | undefined;
  while (Date.now() < deadline) {
    const living = await findLiving(cluster);
    const postmaster = living ?? (await startServer(cluster, { deadline, awaited, settings }));
    if (living === undefined) startedPid = postmaster?.pid;
    if (postmaster?.[awaited] === true) {
      const config = clientConfig(
        { host: postmaster.socketDir, user: SUPERUSER, database: EMBEDDED_DATABASE },
        "saldo presence",
      );
      const presence = await connectClient(config).catch(() => undefined);
      if (presence !== undefined) return { pid: postmaster.pid, started: postmaster.pid === startedPid, presence };
    }
    // A server of another process is starting, stopping or was quicker than ours: check again.
    await sleep(GIVE_WAY_MS);
  }
  throw new Error(`The embedded PostgreSQL in ${cluster.dir} did not come up; ${cluster.logFile} says why.`);
}

function superuserOf(socketDir: string): ClientConfig {
  return clientConfig({ host: socketDir, user: SUPERUSER, database: EMBEDDED_DATABASE }, "saldo presence");
}

async function findLiving({ dir, socketDir }: Cluster): Promise<Postmaster | undefined> {
  const found = await readPostmaster(dir);
  if (found !== undefined && (await isPostmasterOf(dir, found.pid))) return found;
  await removeMisleadingLocks(dir, socketDir);
  return undefined;
}

/** Starts a server and waits until it is what is awaited. Undefined when it gave way to another one. */
async function startServer(
  cluster: Cluster,
  {
    deadline,
    awaited,
    settings: more,
  }: { deadline: number; awaited: Awaited; settings: Readonly<Record<string, string>> },
): Promise<Postmaster | undefined> {
  const binaries = await findPostgresBinaries(cluster.account);
  await ensureCluster(cluster, binaries);
  await writeAccessRules(cluster);
  const logStart = await trimLog(cluster.logFile);
  const settings = Object.entries({ ...SERVER_SETTINGS, ...more, unix_socket_directories: cluster.socketDir });
  const args = settings.flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const child = await spawnOnCluster(binaries.postgres, args, cluster);
  while (Date.now() < deadline) {
    const postmaster = await readPostmaster(cluster.dir);
    if (postmaster?.pid === child.pid && postmaster?.[awaited] === true) {
      child.unref();
      return postmaster;
    }
    if (child.exitCode !== null || child.signalCode !== null) {
      const output = (await readFile(cluster.logFile, "utf8")).slice(logStart);
      if (!GAVE_WAY.test(output))
        throw new Error(`The embedded PostgreSQL in ${cluster.dir} did not start:\n${output}`);
      return undefined;
    }
    await sleep(POLL_MS);
  }
  child.kill("SIGINT");
  return undefined;
}

// Another server holds the folder. The backends of one that was killed hold its memory for a moment longer.
const GAVE_WAY = /lock file .* already exists|pre-existing shared memory block .* is still in use/s;

async function trimLog(logFile: string): Promise<number> {
  const size = (await stat(logFile).catch(() => undefined))?.size ?? 0;
  if (size <= MAX_LOG_BYTES) return size;
  await truncate(logFile);
  return 0;
}

async function isUsedByOthers(config: ClientConfig): Promise<boolean> {
  const query = "SELECT FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()";
  return withClient(config, async (client) => {
    // A pool reports its end a moment before the server has seen its connections close.
    const deadline = Date.now() + LEAVING_MS;
    while ((await client.query(query)).rowCount !== 0) {
      if (Date.now() > deadline) return true;
      await sleep(POLL_MS);
    }
    return false;
  }).catch(() => true); // A server that does not answer is gone, or another process has it.
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
