// Makes a cluster from a backup and lets it recover: the newest base backup before the wanted moment, and the log behind it. The server
// that recovers is the embedded one; when it serves, its books are on a timeline of their own.

import { appendFile, chmod, mkdir, mkdtemp, open, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { invariant } from "../../kernel/invariant.ts";
import { clientConfig, withClient } from "../connections.ts";
import { locateCluster } from "../embedded/cluster.ts";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../embedded/embedded-postgres.ts";
import { giveTreeTo } from "../embedded/server-account.ts";
import { readHistory } from "../history.ts";
import {
  type BaseBackup,
  historyFolder,
  historyName,
  makeFolder,
  readSecretsKey,
  sealedFile,
  writeSealed,
} from "./backup-folder.ts";
import { type LogFiles, RESTORE_COMMAND, startLogFeeder } from "./log-feeder.ts";
import { readBase } from "./read-base.ts";
import { type BackupKey, BackupUnreadable } from "./sealed-file.ts";
import { planRestore, type RestorePlan, type Wanted } from "./restore-plan.ts";
import { madeLine } from "./timelines.ts";

const SETTINGS = "postgresql.auto.conf";
/** A standby of the former server does not follow the restored one. */
const ALONE = "synchronous_standby_names = ''\n";

/** Where recovery ends: at a moment, behind the base backup, or where the log does. */
type Target = { readonly at: Date } | "base" | "end";
/** PostgreSQL's words for why it did not come to the target, and where it ends instead. */
const INSTEAD: readonly (readonly [RegExp, Target])[] = [
  [/recovery ended before configured recovery target was reached/, "end"],
  [/requested recovery stop point is before consistent recovery point/, "base"],
];

export type RestoreOptions = Wanted & {
  /** An existing folder in which the data folder of the restored server is made. */
  readonly within: string;
};

/** A restored server, running in a data folder of its own. */
export type Restored = Pick<RestorePlan, "unreadable" | "notFollowed"> & {
  readonly server: EmbeddedPostgres;
  readonly dataDir: string;
  /** What is committed before this moment is in the books. */
  readonly until: Date;
  readonly timeline: number;
  /** The master key that was beside the cluster. Null: there was none, or the backup is of a version that had none. */
  readonly secretsKey: string | null;
  /** Writes down that the timeline is used, so that no other restore of this folder uses it again. */
  claimTimeline(): Promise<void>;
};

/** Restores into a new data folder and starts its server. Errors: BackupUnreadable; there is no backup before the moment. */
export async function restoreCluster({ within, ...wanted }: RestoreOptions): Promise<Restored> {
  const { root, keys, until } = wanted;
  const plan = await planRestore(wanted);
  const { backup, files, unreadable, notFollowed } = plan;
  const dataDir = await mkdtemp(join(within, `restoring-${process.pid}-`));
  try {
    await chmod(dataDir, 0o711);
    await mkdir(join(dataDir, "postgres"), { mode: 0o700 });
    await unpack(backup, keys, join(dataDir, "postgres"));
    const secretsKey = await readSecretsKey(root, backup, keys);
    const target: Target = until === null ? "end" : { at: until };
    const { server, reached } = await recover(dataDir, { files, keys, target, follows: plan.timeline });
    const { timeline, replayed } = await look(server)
      .then((found) => {
        if (until !== null && reached === "end") requireReached(until, found.replayed, plan);
        return found;
      })
      .catch(async (error: unknown) => {
        await server.stop({ evenWithClients: true });
        throw error;
      });
    return {
      unreadable,
      notFollowed,
      server,
      dataDir,
      timeline,
      secretsKey,
      until: typeof reached === "object" ? reached.at : latest(new Date(backup.facts.until), replayed),
      claimTimeline: () => claimTimeline(root, keys, { dataDir, system: backup.facts.system, timeline }),
    };
  } catch (error) {
    await rm(dataDir, { recursive: true, force: true });
    throw error;
  }
}

/** Errors: BackupUnreadable. The log ended before the moment, and the folder has more of it behind a hole. */
function requireReached(until: Date, replayed: Date | null, { backup, hole }: RestorePlan): void {
  if (hole === null || (replayed !== null && replayed >= until)) return;
  const last = latest(new Date(backup.facts.until), replayed).toISOString();
  throw new BackupUnreadable(
    `The segment ${hole} of the log is missing, so what was committed after ${last} cannot be restored. ` +
      `The books of then: --until ${last}.`,
  );
}

/** Decrypts the archive into the folder of a cluster, and compares it with its manifest. Errors: BackupUnreadable. */
async function unpack(backup: BaseBackup, keys: readonly BackupKey[], to: string): Promise<void> {
  let file: Awaited<ReturnType<typeof open>> | null = null;
  try {
    for await (const part of readBase(backup, keys)) {
      if ("bytes" in part) {
        await file?.appendFile(part.bytes);
        continue;
      }
      await file?.close();
      file = null;
      const { name, type } = part.entry;
      const path = join(to, name);
      if (type === "link") throw new BackupUnreadable("The backup has tablespaces.");
      if (type === "folder") await mkdir(path, { recursive: true, mode: 0o700 });
      else {
        await mkdir(dirname(path), { recursive: true, mode: 0o700 });
        file = await open(path, "w", 0o600);
      }
    }
  } finally {
    await file?.close();
  }
}

/** Lets the cluster recover. Where it does not come to the target, it goes on to where it can end. */
async function recover(
  dataDir: string,
  { files, keys, target, follows }: { files: LogFiles; keys: readonly BackupKey[]; target: Target; follows: number },
): Promise<{ server: EmbeddedPostgres; reached: Target }> {
  const cluster = await locateCluster(dataDir);
  const settings = join(cluster.dir, SETTINGS);
  const original = await readFile(settings, "utf8");
  await writeFile(join(cluster.dir, "recovery.signal"), "");
  await writeFile(settings, original + ALONE + recoverySettings(target, follows));
  await giveTreeTo(cluster.dir, cluster.account);
  const feeder = await startLogFeeder(cluster, { ...files, keys });
  let server: EmbeddedPostgres;
  try {
    server = await startEmbeddedPostgres({ dataDir, recovers: true });
  } catch (error) {
    await feeder.stop();
    const instead = INSTEAD.find(([words]) => words.test(String(error)))?.[1];
    if (instead === undefined || typeof target !== "object") throw error;
    await writeFile(settings, original);
    return recover(dataDir, { files, keys, target: instead, follows });
  }
  await feeder.stop().catch(async (error: unknown) => {
    await server.stop({ evenWithClients: true });
    throw error;
  });
  await writeFile(settings, original);
  await appendFile(settings, ALONE);
  return { server, reached: target };
}

function quote(value: string): string {
  return `'${value.replaceAll("'", "''")}'`;
}

function recoverySettings(target: Target, follows: number): string {
  const common = {
    restore_command: RESTORE_COMMAND,
    recovery_target_timeline: String(follows),
    recovery_target_action: "promote",
    hot_standby: "off",
  };
  const end =
    target === "end"
      ? {}
      : target === "base"
        ? { recovery_target: "immediate" }
        : { recovery_target_time: postgresTime(target.at) };
  return Object.entries({ ...common, ...end })
    .map(([name, value]) => `${name} = ${quote(value)}\n`)
    .join("");
}

/** The setting takes no `T` and no `Z`. */
function postgresTime(moment: Date): string {
  return moment.toISOString().replace("T", " ").replace("Z", "+00");
}

async function look(server: EmbeddedPostgres): Promise<{ timeline: number; replayed: Date | null }> {
  return withClient(clientConfig(server, "saldo restore"), async (client) => {
    const history = await readHistory(client);
    invariant(history !== null, "a restored server is a primary");
    const { rows } = await client.query<{ at: Date | null }>("SELECT pg_last_xact_replay_timestamp() AS at");
    return { timeline: history.timeline, replayed: rows[0]?.at ?? null };
  });
}

/** PostgreSQL chooses the first number behind the histories that it is given, so every one that was ever used is kept. */
async function claimTimeline(
  root: string,
  keys: readonly BackupKey[],
  { dataDir, system, timeline }: { dataDir: string; system: string; timeline: number },
): Promise<void> {
  const folder = historyFolder({ system, timeline });
  await makeFolder(join(root, folder));
  const history = await readFile(join(dataDir, "postgres", "pg_wal", historyName(timeline)));
  await writeSealed(
    sealedFile(root, folder, "history"),
    keys,
    Buffer.concat([history, Buffer.from(madeLine(timeline, new Date()))]),
  );
}

function latest(one: Date, other: Date | null): Date {
  return other !== null && other > one ? other : one;
}
