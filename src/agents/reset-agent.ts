// Takes one agent off the gateway: byte for byte where its file was not changed since, else only what is ours.

import { readFile } from "node:fs/promises";
import type { Agent } from "./agent.ts";
import { ownedBy } from "./change.ts";
import { editsToRemove, placementsToFind } from "./change-back.ts";
import { editText } from "./editing/format.ts";
import { openEveryFile, type OpenedFile, orRefuse } from "./files/agent-files.ts";
import { withAgentLock } from "./files/agent-lock.ts";
import { backUp, backupsOf, forgetBackup } from "./files/backup.ts";
import { digestOf, removeConfigFile, replaceConfigFile } from "./files/config-file.ts";
import { removeMadeFolders } from "./files/made-folders.ts";
import { forget, type KnownRecord, readRecords, recordOf, recordsOf } from "./files/record.ts";
import { encodeText } from "./files/text.ts";
import { type Machine, recordsFolder } from "./machine.ts";

/** How a file is restored; "forgotten": nothing of ours is in it, and its records are of no use. */
export type PlannedReturn = OpenedFile & { readonly past: readonly KnownRecord[] } & (
    | { readonly how: "restored"; readonly bytes: Buffer }
    | { readonly how: "removed" | "forgotten" }
    | { readonly how: "edited"; readonly bytes: Buffer }
  );

/** The result for one file. */
export type ReturnedFile = {
  readonly path: string;
  readonly how: PlannedReturn["how"];
  /** The copy of what was there until now. */
  readonly backup: string | null;
  /** Copies from before, which only their owner needs. */
  readonly leftCopies: readonly string[];
};

/** How the files of an agent are restored; none where nothing of ours is in them or in the records. Errors: FileRefused. */
export async function planReset(agent: Agent, baseUrls: readonly string[], machine: Machine): Promise<PlannedReturn[]> {
  // The records come second: what another run writes in between is then remembered, even if only a part of it was seen in the file.
  const opened = await openEveryFile(agent, machine);
  const records = await readRecords(recordsFolder(machine));
  const isOurs = ownedBy([...records.flatMap((record) => record.baseUrls), ...baseUrls]);
  const planned = await Promise.all(
    opened.map((each) =>
      orRefuse(each.file.path, async (): Promise<PlannedReturn[]> => {
        const record = recordOf(records, each.file);
        const past = recordsOf(records, each.file.realPath);
        const whole = await returnWhole({ ...each, past }, record);
        if (whole !== null) return [whole];
        const edits = editsToRemove(each.root, placementsToFind(each.of, isOurs), record ?? null);
        if (edits.length === 0) return past.length === 0 ? [] : [{ ...each, past, how: "forgotten" }];
        const text = editText(each.of.format, each.content.text, edits);
        return [{ ...each, past, how: "edited", bytes: encodeText({ ...each.content, text }) }];
      }),
    ),
  );
  return planned.flat();
}

/**
 * Takes an agent off the gateway while no other run changes its files. Errors: FileRefused; files before the refused one have
 * gone back.
 */
export async function resetAgent(
  agent: Agent,
  baseUrls: readonly string[],
  { machine, now }: { machine: Machine; now: Date },
): Promise<ReturnedFile[]> {
  const folder = recordsFolder(machine);
  return orRefuse(folder, () =>
    withAgentLock(folder, agent.id, async () =>
      carryOutReset(await planReset(agent, baseUrls, machine), { machine, now }),
    ),
  );
}

async function carryOutReset(
  planned: readonly PlannedReturn[],
  { machine, now }: { machine: Machine; now: Date },
): Promise<ReturnedFile[]> {
  const folder = recordsFolder(machine);
  const returned: ReturnedFile[] = [];
  for (const each of planned) {
    const { file, how, past } = each;
    const leftCopies = await backupsOf(file.realPath);
    const backup = await orRefuse(file.path, () => returnFile(each, now));
    const recordPaths = past.map(({ recordPath }) => recordPath);
    await orRefuse(folder, () => forget(folder, recordPaths));
    if (how === "removed") for (const { madeFolder } of past) await removeMadeFolders(file.realPath, madeFolder);
    // A copy that equals the file is not needed any more.
    const unneeded = copiesOf("bytes" in each ? each.bytes : how === "forgotten" ? file.bytes : null, past);
    for (const path of unneeded) await forgetBackup(path);
    const left = leftCopies.filter((path) => !unneeded.includes(path));
    returned.push({ path: file.path, how, backup, leftCopies: left });
  }
  return returned;
}

type Known = OpenedFile & { readonly past: readonly KnownRecord[] };

async function returnWhole(known: Known, record: KnownRecord | undefined): Promise<PlannedReturn | null> {
  const { bytes } = known.file;
  if (record === undefined || bytes === null || digestOf(bytes) !== record.written) return null;
  if (record.original === "none") return { ...known, how: "removed" };
  if (record.original === null) return null;
  const { backup, digest } = record.original;
  // The copy is gone or no longer what was copied: what is ours can still be taken out.
  const original = await readFile(backup).catch(() => null);
  return original === null || digestOf(original) !== digest ? null : { ...known, how: "restored", bytes: original };
}

/** Returns the copy that was made of what a user may want back. */
async function returnFile(each: PlannedReturn, now: Date): Promise<string | null> {
  if (!("bytes" in each)) {
    if (each.how === "removed") await removeConfigFile(each.file);
    return null;
  }
  const backup = each.how === "edited" ? await backUp(each.file, now) : null;
  try {
    await replaceConfigFile(each.file, each.bytes);
  } catch (error) {
    await forgetBackup(backup);
    throw error;
  }
  return backup;
}

/** The copies of a content that changes of ours made. */
function copiesOf(bytes: Buffer | null, past: readonly KnownRecord[]): string[] {
  const digest = bytes === null ? null : digestOf(bytes);
  return past.flatMap(({ original }) =>
    original !== null && original !== "none" && original.digest === digest ? [original.backup] : [],
  );
}
