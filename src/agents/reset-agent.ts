// Takes one agent off the gateway: byte for byte where nobody has touched its file since, else only what is ours.

import { readFile, rm } from "node:fs/promises";
import type { Agent } from "./agent.ts";
import { editsToRemove, ownedBy, placementsToFind } from "./change.ts";
import { UneditableFile } from "./editing/edits.ts";
import { editText } from "./editing/format.ts";
import { openEveryFile, type OpenedFile, orRefuse } from "./files/agent-files.ts";
import { backUp, forgetBackup } from "./files/backup.ts";
import { digestOf, removeConfigFile, replaceConfigFile } from "./files/config-file.ts";
import { type FileRecord, readRecords, writeRecords } from "./files/record.ts";
import { encodeText } from "./files/text.ts";
import { type Machine, recordsPath } from "./machine.ts";

/** How a file goes back. */
export type PlannedReturn = OpenedFile & { readonly record: FileRecord | undefined } & (
    | { readonly how: "restored"; readonly bytes: Buffer; readonly backup: string }
    | { readonly how: "removed" }
    | { readonly how: "edited"; readonly bytes: Buffer }
  );

/** What was done to one file. */
export type ReturnedFile = {
  readonly path: string;
  readonly how: PlannedReturn["how"];
  readonly backup: string | null;
};

/** How the files of an agent go back; none where nothing of ours is in them. Errors: FileRefused. */
export async function planReset(agent: Agent, baseUrls: readonly string[], machine: Machine): Promise<PlannedReturn[]> {
  const records = await readRecords(recordsPath(machine));
  const isOurs = ownedBy([...records.baseUrls, ...baseUrls]);
  const opened = await openEveryFile(agent, machine);
  const planned = await Promise.all(
    opened.map((each) =>
      orRefuse(each.file.path, async (): Promise<PlannedReturn[]> => {
        const record = records.files[each.file.realPath];
        const whole = await returnWhole(each, record);
        if (whole !== null) return [whole];
        const edits = editsToRemove(each.root, placementsToFind(each.of, isOurs), record ?? null);
        if (edits.length === 0) return [];
        const text = editText(each.of.format, each.content.text, edits);
        return [{ ...each, record, how: "edited", bytes: encodeText({ ...each.content, text }) }];
      }),
    ),
  );
  return planned.flat();
}

/** Carries out what was planned. Errors: FileRefused; files before the refused one have gone back. */
export async function carryOutReset(
  planned: readonly PlannedReturn[],
  { machine, now }: { machine: Machine; now: Date },
): Promise<ReturnedFile[]> {
  const returned: ReturnedFile[] = [];
  for (const each of planned) {
    const backup = await orRefuse(each.file.path, () => returnFile(each, now));
    await forget(each.file.realPath, machine);
    if (each.how === "restored") await rm(each.backup, { force: true });
    returned.push({ path: each.file.path, how: each.how, backup });
  }
  return returned;
}

async function returnWhole(each: OpenedFile, record: FileRecord | undefined): Promise<PlannedReturn | null> {
  const { bytes } = each.file;
  if (record === undefined || bytes === null || digestOf(bytes) !== record.written) return null;
  if (record.original === "none") return { ...each, record, how: "removed" };
  if (record.original === null) return null;
  const { backup } = record.original;
  try {
    return { ...each, record, how: "restored", bytes: await readFile(backup), backup };
  } catch {
    return null; // the copy is gone: what is ours can still be taken out
  }
}

/** Gives the copy that was made of what a user may want back. */
async function returnFile(each: PlannedReturn, now: Date): Promise<string | null> {
  if (each.how === "removed") {
    await removeConfigFile(each.file);
    return null;
  }
  if (each.how === "restored") {
    await replaceConfigFile(each.file, each.bytes);
    return null;
  }
  const backup = await backUp(each.file, now);
  try {
    await replaceConfigFile(each.file, each.bytes);
  } catch (error) {
    await forgetBackup(backup);
    throw error instanceof UneditableFile ? error : new UneditableFile("cannot be written", { cause: error });
  }
  return backup;
}

async function forget(realPath: string, machine: Machine): Promise<void> {
  const path = recordsPath(machine);
  const { files, baseUrls } = await readRecords(path);
  const { [realPath]: _forgotten, ...others } = files;
  if (Object.keys(others).length > 0) await writeRecords(path, { baseUrls, files: others });
  else await rm(path, { force: true });
}
