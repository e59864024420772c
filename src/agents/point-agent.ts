// Points one agent at a gateway. Every file is planned before the first is written; when a later one cannot be written, the
// earlier ones go back.

import type { Agent, Connection } from "./agent.ts";
import { editsToApply, holdsOurs, ownedBy } from "./change.ts";
import type { Edit } from "./editing/edits.ts";
import { editText } from "./editing/format.ts";
import { openFiles, type OpenedFile, orRefuse } from "./files/agent-files.ts";
import { backUp, forgetBackup } from "./files/backup.ts";
import { digestOf, readConfigFile, removeConfigFile, replaceConfigFile } from "./files/config-file.ts";
import { type FileRecord, type Records, readRecords, writeRecords } from "./files/record.ts";
import { encodeText } from "./files/text.ts";
import { type Machine, recordsPath } from "./machine.ts";

/** What is to happen to one file. */
export type PlannedFile = OpenedFile & {
  readonly edits: readonly Edit[];
  readonly bytes: Buffer;
  readonly record: Omit<FileRecord, "original">;
  /** What gives it back; "now": the file as it is found. */
  readonly original: FileRecord["original"] | "now";
};

/** What happened to one file. */
export type WrittenFile = { readonly path: string; readonly backup: string | null; readonly isNew: boolean };

/** The changes that point an agent at a gateway; none where it points there already. Errors: FileRefused. */
export async function planAgent(agent: Agent, connection: Connection, machine: Machine): Promise<PlannedFile[]> {
  const records = await readRecords(recordsPath(machine));
  const opened = await openFiles(agent, machine);
  const isOurs = ownedBy([...records.baseUrls, connection.apiUrl]);
  const planned = await Promise.all(
    opened.map((each) =>
      orRefuse(each.file.path, () => planFile(each, { placements: each.of.placements(connection, isOurs), records })),
    ),
  );
  return planned.filter(({ edits }) => edits.length > 0);
}

type Wanted = { readonly placements: Parameters<typeof editsToApply>[1]; readonly records: Records };

function planFile(opened: OpenedFile, { placements, records }: Wanted): PlannedFile {
  const { file, content, root, of } = opened;
  const known = records.files[file.realPath];
  const isUntouched = known !== undefined && file.bytes !== null && digestOf(file.bytes) === known.written;
  // A file that holds nothing of ours is a beginning, whatever is remembered of it.
  const isFresh = known === undefined || (!isUntouched && !holdsOurs(root, placements));
  const before = isFresh ? { replaced: [], made: [] } : known;
  const { edits, remembered } = editsToApply(root, placements, before);
  const frame = file.bytes === null || content.text.trim() === "" ? (of.frame ?? {}) : {};
  const framed = Object.entries(frame).map(([key, value]): Edit => ({ kind: "set", path: [key], value }));
  const bytes = encodeText({ ...content, text: editText(of.format, content.text, [...framed, ...edits]) });
  const original = isUntouched ? known.original : isFresh ? "now" : null;
  return { ...opened, edits, bytes, record: { written: digestOf(bytes), ...remembered }, original };
}

/** Writes what was planned. Errors: FileRefused, with every file of the agent as it was. */
export async function writePlan(
  planned: readonly PlannedFile[],
  { connection, machine, now }: { connection: Connection; machine: Machine; now: Date },
): Promise<WrittenFile[]> {
  const path = recordsPath(machine);
  const before = await readRecords(path);
  const backups = await Promise.all(planned.map(({ file }) => orRefuse(file.path, () => backUp(file, now))));
  const files = planned.map(({ file, record, original }, index): [string, FileRecord] => {
    const backup = backups[index] ?? null;
    const asFound = backup === null ? "none" : { backup };
    return [file.realPath, { ...record, original: original === "now" ? asFound : original }];
  });
  const baseUrls = [...new Set([...before.baseUrls, connection.apiUrl])];
  // Before the files: whoever is killed in between has a memory of a change that is not there, which reset passes over.
  await writeRecords(path, { baseUrls, files: { ...before.files, ...Object.fromEntries(files) } });
  const written: PlannedFile[] = [];
  try {
    for (const each of planned) {
      await orRefuse(each.file.path, () => replaceConfigFile(each.file, each.bytes));
      written.push(each);
    }
  } catch (error) {
    await Promise.all(written.map(takeBack));
    await Promise.all(backups.map(forgetBackup));
    await writeRecords(path, before);
    throw error;
  }
  return planned.map(({ file }, index) => ({
    path: file.path,
    backup: backups[index] ?? null,
    isNew: file.bytes === null,
  }));
}

async function takeBack({ file, bytes }: PlannedFile): Promise<void> {
  const now = await readConfigFile(file.path);
  if (now.bytes?.equals(bytes) !== true) return; // somebody else has written it since, and that stays
  await (file.bytes === null ? removeConfigFile(now) : replaceConfigFile(now, file.bytes));
}
