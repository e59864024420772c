// The folders that a node writes to, and their disks.

import { access, constants, stat, statfs } from "node:fs/promises";
import { dirname, join } from "node:path";
import { OWN_KEY_FILE } from "../../app/compose/secrets.ts";
import { type Check, codeOf, failed, type Finding, ok, type CheckContext, warning } from "./check.ts";

/** The thresholds of the alarms SaldoDiskFilling and SaldoDiskFull (deploy/ALARMS.md). */
const FREE_SHARE = { warning: 0.15, failed: 0.05 } as const;
/** Reading and writing by others. */
const OPEN_TO_OTHERS = 0o077;
const GIB = 1024 ** 3;

/** The checks of each folder that is written to. */
export function folderChecks({ config }: CheckContext): Check[] {
  const { dataDir, payoutJournalDir, backupDir, proofFile, chains } = config;
  const folders = [
    { name: "data folder", path: dataDir, setting: "SALDO_DATA_DIR" },
    ...(chains.length === 0
      ? []
      : [{ name: "payout journal", path: payoutJournalDir, setting: "SALDO_PAYOUT_JOURNAL_DIR" }]),
    ...(backupDir === null ? [] : [{ name: "backup folder", path: backupDir, setting: "SALDO_BACKUP_DIR" }]),
    ...(proofFile === null ? [] : [{ name: "proof file", path: dirname(proofFile), setting: "SALDO_PROOF_FILE" }]),
  ];
  return [
    ...folders.map(({ name, path, setting }) => ({
      name,
      advice: `Set ${setting} to a folder that the service's user can write to.`,
      look: async () => [await lookAtFolder(name, path, setting), ...(await lookAtDisk(name, path))],
    })),
    {
      name: "key file",
      advice: `Look at ${OWN_KEY_FILE} in SALDO_DATA_DIR.`,
      look: () => lookAtKeyFile(join(dataDir, OWN_KEY_FILE)),
    },
  ];
}

async function lookAtFolder(name: string, path: string, setting: string): Promise<Finding> {
  const advice = `Set ${setting} to a folder that the service's user can write to.`;
  const there = await existing(path);
  if (!(await stat(there)).isDirectory()) return failed(name, `${there} is not a folder`, advice);
  try {
    await access(there, constants.W_OK | constants.X_OK);
  } catch (error) {
    return failed(name, `this user cannot write to ${there}: ${codeOf(error)}`, advice);
  }
  return ok(name, there === path ? `${path} can be written to` : `${path} is not there yet and can be made`);
}

async function lookAtDisk(name: string, path: string): Promise<Finding[]> {
  const { bavail, blocks, bsize } = await statfs(await existing(path));
  // A file system without a size of its own.
  if (blocks === 0) return [];
  const share = bavail / blocks;
  const check = `disk of ${name}`;
  const text = `${Math.floor(share * 100)} % is free, ${((bavail * bsize) / GIB).toFixed(1)} GiB`;
  if (share >= FREE_SHARE.warning) return [ok(check, text)];
  const advice = "Make room: old backups, files of other programs. Never delete files of the database.";
  return [share < FREE_SHARE.failed ? failed(check, text, advice) : warning(check, text, advice)];
}

/** Only where a start has made a key there. */
async function lookAtKeyFile(path: string): Promise<Finding[]> {
  const found = await stat(path).catch(() => null);
  if (found === null) return [];
  if ((found.mode & OPEN_TO_OTHERS) === 0) return [ok("key file", "is for its owner alone")];
  return [warning("key file", `other users of this machine can read ${path}`, `chmod 600 ${path}`)];
}

/** The folder itself, or the nearest one above it that is there. */
async function existing(path: string): Promise<string> {
  for (let at = path; ; at = dirname(at)) {
    if (at === dirname(at) || (await stat(at).catch(() => null)) !== null) return at;
  }
}
