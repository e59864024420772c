import { mkdir, mkdtemp, readdir, realpath, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve, sep } from "node:path";
import { openServiceDatabase } from "../app/compose/database.ts";
import { OWN_PROOF_KEY_FILE } from "../app/compose/proof.ts";
import { OWN_KEY_FILE, readKeyToBackUp, requireRestoredKey, restoreOwnKey } from "../app/compose/secrets.ts";
import type { Config } from "../app/config/config.ts";
import { syncFolder } from "../database/backup/backup-folder.ts";
import { takeBaseBackup } from "../database/backup/base-backup.ts";
import { writeVerified } from "../database/backup/folder-state.ts";
import { pruneBackups } from "../database/backup/prune.ts";
import { type Restored, restoreCluster } from "../database/backup/restore-cluster.ts";
import { type BackupKey, backupKeys } from "../database/backup/sealed-file.ts";
import type { Database } from "../database/database.ts";
import { findEmbeddedAddress } from "../database/embedded/embedded-postgres.ts";
import type { AuditReport } from "../ledger/audit/audit.ts";
import { closeRestored } from "../operator/commands/recovery.ts";
import { auditAll, found, foundText, momentIn, stoppedText } from "./audited-books.ts";
import { type Command, UsageError } from "./command.ts";
import { operatorHere } from "./operator-here.ts";

/** What a data folder may have besides a cluster: what a process left there for the books. */
const KEPT: ReadonlySet<string> = new Set(["owed", "payout-journal", "refused-pin", OWN_KEY_FILE, OWN_PROOF_KEY_FILE]);

/** The commands that list what happened after the moment of the restored books: settlements, payouts. */
const BEYOND = ["saldo recover report", "saldo payout status"] as const;

export const backupCommands: readonly Command[] = [
  {
    name: "backup verify",
    about: "Restores a backup into a scratch folder, audits all of it, and removes it again.",
    options: {},
    positionals: ["DIR"],
    async run({ positionals: [root = ""] }, { config }) {
      const keys = keysOf(config);
      const within = await mkdtemp(join(tmpdir(), "saldo-verify-"));
      try {
        const restored = await restoreCluster({ root: resolve(root), keys, until: null, timeline: null, within });
        const report = await inRestored(config, restored, async (database) => {
          // As a restore into an empty folder does.
          await requireRestoredKey(database, { ...config, dataDir: restored.dataDir, restored: restored.secretsKey });
          return auditAll(config, database.pool);
        });
        const isRecorded = report.ok && (await recordVerified(resolve(root), keys));
        const notRecorded = report.ok && !isRecorded ? { recorded: false } : {};
        return { json: { ok: report.ok, ...notRecorded, ...leftOut(restored), ...found(report) }, ok: report.ok };
      } finally {
        await rm(within, { recursive: true, force: true });
      }
    },
  },
  {
    name: "backup prune",
    about: "Removes base backups beyond the newest ones, and the log that none of the others needs.",
    options: { keep: { required: true, value: "N", about: "how many base backups stay" } },
    positionals: ["DIR"],
    async run(values, { config }) {
      const keep = wholeNumberIn(values.need("keep"), "--keep");
      const pruned = await pruneBackups(resolve(values.positionals[0] ?? ""), { keys: keysOf(config), keep });
      const unreadable = Object.fromEntries(pruned.unreadable);
      return { json: { ...pruned, unreadable } };
    },
  },
  {
    name: "backup",
    about: "Backs up the embedded database, encrypted under SALDO_BACKUP_KEY. The service may run.",
    options: { to: { required: true, value: "DIR", about: "the folder of backups, best on another disk" } },
    async run(values, { config, database }) {
      const keys = keysOf(config);
      const root = resolve(values.need("to"));
      await mkdir(root, { recursive: true, mode: 0o700 });
      const inside = `${await realpath(root)}${sep}`.startsWith(
        `${await realpath(config.dataDir).catch(() => config.dataDir)}${sep}`,
      );
      if (inside) throw new UsageError("saldo backup: --to must not be inside the data folder.");
      const opened = await database();
      const { path, bytes, facts } = await takeBaseBackup(await findEmbeddedAddress(config), {
        root,
        keys,
        secretsKey: await readKeyToBackUp(opened, config),
      });
      return { json: { path, bytes, until: facts.until } };
    },
  },
  {
    name: "restore",
    about:
      "Restores a backup of the embedded database into an empty data folder, and audits it. Nothing may serve from there.",
    options: {
      from: { required: true, value: "DIR", about: "the folder of backups" },
      until: {
        required: false,
        value: "TIME",
        about: "the moment, such as 2026-11-24T15:04:05Z; left out: the last one",
      },
      timeline: {
        required: false,
        value: "N",
        about: "the timeline of the folder to follow; left out: the newest of that moment",
      },
      "data-dir": { required: false, value: "DIR", about: "the data folder; left out: SALDO_DATA_DIR" },
    },
    async run(values, { config }) {
      const keys = keysOf(config);
      const dataDir = resolve(values.get("data-dir") ?? config.dataDir);
      const until = momentIn(values.get("until"), "saldo restore");
      await mkdir(dataDir, { recursive: true, mode: 0o711 });
      const there = (await readdir(dataDir)).filter((name) => !KEPT.has(name));
      if (there.length > 0) throw new UsageError(notEmpty(dataDir, there));
      const wanted = values.get("timeline");
      const timeline = wanted === undefined ? null : wholeNumberIn(wanted, "--timeline");
      const root = resolve(values.need("from"));
      const restored = await restoreCluster({ root, keys, until, timeline, within: dataDir });
      try {
        const report = await inRestored(config, restored, async (database) => {
          await requireRestoredKey(database, { ...config, dataDir, restored: restored.secretsKey });
          await closeRestored(await operatorHere(async () => database), restored);
          return auditAll(config, database.pool);
        });
        if (restored.secretsKey !== null) await restoreOwnKey(dataDir, restored.secretsKey);
        await restored.claimTimeline();
        await rename(join(restored.dataDir, "postgres"), join(dataDir, "postgres"));
        await syncFolder(dataDir);
        const facts = { until: restored.until.toISOString(), timeline: restored.timeline, ...leftOut(restored) };
        return { json: { ...facts, beyond: BEYOND, ...found(report) }, text: textOf(facts, report), ok: report.ok };
      } finally {
        await rm(restored.dataDir, { recursive: true, force: true });
      }
    },
  },
];

function keysOf({ backupKeys: secrets, databaseUrl }: Config): BackupKey[] {
  if (databaseUrl !== null)
    throw new UsageError(
      "saldo backup: DATABASE_URL names a server of yours: back it up with its own tools, such as pgBackRest.",
    );
  if (secrets.length === 0) throw new UsageError("saldo backup: needs SALDO_BACKUP_KEY.");
  return backupKeys(secrets);
}

/** Records the moment for `saldo_backup_verified_age_seconds`. False: the folder cannot be written to, as where it is mounted to be read. */
async function recordVerified(root: string, keys: readonly BackupKey[]): Promise<boolean> {
  return writeVerified(root, keys, new Date()).then(
    () => true,
    () => false,
  );
}

function notEmpty(dataDir: string, there: readonly string[]): string {
  const left = there.filter((name) => name.startsWith("restoring-"));
  const advice =
    left.length === 0
      ? ""
      : ` A restore that was interrupted has left ${left.join(", ")}: when none runs any more, remove it and start again.`;
  return `saldo restore: ${dataDir} is not empty: it has ${there.join(", ")}.${advice}`;
}

function wholeNumberIn(text: string, option: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new UsageError(`saldo: ${option} is a number from 1, such as 2.`);
  return Number(text);
}

/** Works on the restored database, and stops its server. */
async function inRestored<T>(config: Config, restored: Restored, work: (database: Database) => Promise<T>): Promise<T> {
  try {
    const database = await openServiceDatabase({ ...config, dataDir: restored.dataDir });
    try {
      return await work(database);
    } finally {
      await database.close();
    }
  } finally {
    await restored.server.stop({ evenWithClients: true });
  }
}

type LeftOut = { readonly unreadable?: Readonly<Record<string, string>>; readonly notFollowed?: readonly string[] };

/** What the restored books may lack of the folder, where there is anything. */
function leftOut({ unreadable, notFollowed }: Restored): LeftOut {
  return {
    ...(unreadable.size > 0 && { unreadable: Object.fromEntries(unreadable) }),
    ...(notFollowed.length > 0 && { notFollowed }),
  };
}

function textOf(
  { until, timeline, unreadable = {}, notFollowed = [] }: { until: string; timeline: number } & LeftOut,
  report: AuditReport,
): string {
  return [
    `Restored to ${until}, timeline ${timeline}. ${foundText(report)}`,
    ...Object.entries(unreadable).map(([name, reason]) => `Not used: the backup ${name}. ${reason}`),
    ...notFollowed.map(
      (folder) => `Not in these books: what happened in the timeline ${folder}. --timeline restores it.`,
    ),
    `What others may know of the time after ${until}: ${BEYOND.join(", ")}.`,
    stoppedText(["saldo admission start", "saldo payout start", "saldo backup"]),
  ].join("\n");
}
