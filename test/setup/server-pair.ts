// A primary and its synchronous standby, both embedded servers of a test's own, for tests of what a failover keeps.

import { appendFile, chown, readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../../src/database/embedded/embedded-postgres.ts";
import { makeDataDir, postmasterPid, removeDataDir, until, urlOf } from "./own-server.ts";
import { onServer } from "./test-servers.ts";

/** The name by which the standby is asked to confirm. */
export const STANDBY = "standby";
/** The standby runs as the account of the primary, which need not have a name. */
const OPEN_RULES = "local all all trust\nlocal replication all trust\n";

export type ServerPair = {
  readonly primary: EmbeddedPostgres;
  readonly standby: EmbeddedPostgres;
  readonly primaryUrl: string;
  readonly standbyUrl: string;
  /** A URL that names both. */
  readonly bothUrl: string;
  /** From here on each commit waits for the standby. */
  waitForStandby(names?: string): Promise<void>;
  /** Keeps the primary from sending anything to the standby. What the standby has received stays received. */
  freezeStandby(): Promise<void>;
  /** Ends the primary at once, as the loss of its machine does, and makes the standby the primary. */
  failOver(): Promise<void>;
  stop(): Promise<void>;
};

/** Starts both. */
export async function startPair(): Promise<ServerPair> {
  const primaryDir = await makeDataDir();
  const first = await startEmbeddedPostgres({ dataDir: primaryDir });
  await first.stop({ evenWithClients: true });
  const standbyDir = await makeDataDir(primaryDir);
  await shareAccount(join(primaryDir, "postgres"), join(standbyDir, "postgres"));
  const primary = await startEmbeddedPostgres({ dataDir: primaryDir });
  const primaryUrl = urlOf(primary);
  await writeFile(join(primaryDir, "postgres", "pg_hba.conf"), OPEN_RULES);
  await onServer(primaryUrl, "SELECT pg_reload_conf()");
  const standby = await startStandby(standbyDir, primary);
  const standbyUrl = urlOf(standby);
  let walSender: number | null = null;
  return {
    primary,
    standby,
    primaryUrl,
    standbyUrl,
    bothUrl: `${primaryUrl},${encodeURIComponent(standby.host)}`,
    async waitForStandby(names = STANDBY) {
      await onServer(primaryUrl, `ALTER SYSTEM SET synchronous_standby_names = '${names}'`);
      await onServer(primaryUrl, "SELECT pg_reload_conf()");
      await until(async () => (await standbysOf(primaryUrl)).some(({ state }) => ["sync", "quorum"].includes(state)));
    },
    async freezeStandby() {
      walSender = (await standbysOf(primaryUrl))[0]?.pid ?? null;
      if (walSender === null) throw new Error("no standby is attached");
      process.kill(walSender, "SIGSTOP");
    },
    async failOver() {
      const postmaster = await postmasterPid(primaryDir);
      // Released first: its handle would start the server again.
      const released = primary.stop();
      process.kill(postmaster, "SIGKILL");
      if (walSender !== null) process.kill(walSender, "SIGKILL");
      await released.catch(() => {}); // it was killed under its handle
      await onServer(standbyUrl, "SELECT pg_promote()");
    },
    async stop() {
      if (walSender !== null) wake(walSender);
      await primary.stop({ evenWithClients: true }).catch(() => {}); // a test may have killed it
      await standby.stop({ evenWithClients: true });
      await removeDataDir(primaryDir);
      await removeDataDir(standbyDir);
    },
  };
}

/** The attached standbys, with their process ids. */
async function standbysOf(url: string): Promise<{ pid: number; state: string }[]> {
  return (await onServer(url, "SELECT pid, sync_state AS state FROM pg_stat_replication")).rows;
}

async function startStandby(dataDir: string, primary: EmbeddedPostgres): Promise<EmbeddedPostgres> {
  const cluster = join(dataDir, "postgres");
  const source = `host=${primary.host} user=${primary.user} application_name=${STANDBY}`;
  await appendFile(join(cluster, "postgresql.auto.conf"), `primary_conninfo = '${source}'\n`);
  await writeFile(join(cluster, "standby.signal"), "");
  const { uid, gid } = await stat(cluster);
  await chown(join(cluster, "standby.signal"), uid, gid);
  return startEmbeddedPostgres({ dataDir });
}

/** Gives a copied cluster to the account of the first one, so that its server may use the other's socket. */
async function shareAccount(from: string, to: string): Promise<void> {
  const { uid, gid } = await stat(from);
  if ((await stat(to)).uid === uid) return;
  for (const name of await readdir(to, { recursive: true })) await chown(join(to, name), uid, gid);
  await chown(to, uid, gid);
}

function wake(pid: number): void {
  try {
    process.kill(pid, "SIGCONT");
  } catch {
    // It ended with its server.
  }
}
