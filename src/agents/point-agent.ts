// Points one agent at a gateway. Every file is planned before the first is written; when a later one cannot be written, the
// earlier ones go back.

import type { Agent, Connection } from "./agent.ts";
import { editsToApply, holdsOurs, ownedBy } from "./change.ts";
import { type Edit, UneditableFile } from "./editing/edits.ts";
import { editText } from "./editing/format.ts";
import { openFiles, type OpenedFile, orRefuse } from "./files/agent-files.ts";
import { withAgentLock } from "./files/agent-lock.ts";
import { backUp, forgetBackup } from "./files/backup.ts";
import { digestOf, readConfigFile, removeConfigFile, replaceConfigFile } from "./files/config-file.ts";
import { folderToMake, removeMadeFolders } from "./files/made-folders.ts";
import {
  type FileRecord,
  forget,
  type KnownRecord,
  readRecords,
  recordOf,
  recordsOf,
  remember,
} from "./files/record.ts";
import { encodeText } from "./files/text.ts";
import { type Machine, recordsFolder } from "./machine.ts";

/** The plan for one file. */
export type PlannedFile = OpenedFile & {
  readonly edits: readonly Edit[];
  readonly bytes: Buffer;
  readonly record: Omit<FileRecord, "original" | "madeFolder">;
  /** The source for undoing it; "now": the file as it is found. */
  readonly origin: Pick<FileRecord, "original" | "madeFolder"> | "now";
  /** Whether the file is as we wrote it last: no copy of that is wanted, which would only be one more place with the key. */
  readonly isUntouched: boolean;
  /** Records of earlier changes, which this one takes the place of. */
  readonly past: readonly KnownRecord[];
};

/** The result for one file. */
export type WrittenFile = { readonly path: string; readonly backup: string | null; readonly isNew: boolean };

/** The changes that point an agent at a gateway; none where it points there already. Errors: FileRefused. */
export async function planAgent(agent: Agent, connection: Connection, machine: Machine): Promise<PlannedFile[]> {
  // The records come second: what another run writes in between is then remembered, even if only a part of it was seen in the file.
  const opened = await openFiles(agent, machine);
  const records = await readRecords(recordsFolder(machine));
  const planned = await Promise.all(
    opened.map((each) => orRefuse(each.file.path, () => planFile(each, { connection, records }))),
  );
  return planned.filter(({ edits }) => edits.length > 0);
}

type Wanted = { readonly connection: Connection; readonly records: readonly KnownRecord[] };

function planFile(opened: OpenedFile, { connection, records }: Wanted): PlannedFile {
  const { file, content, root, of } = opened;
  const isOurs = ownedBy([...records.flatMap(({ baseUrls }) => baseUrls), connection.apiUrl]);
  const placements = of.placements(connection, isOurs);
  const past = recordsOf(records, file.realPath);
  const known = recordOf(records, file);
  const isUntouched = known !== undefined && file.bytes !== null && digestOf(file.bytes) === known.written;
  // A file without anything of ours is a beginning, even if there are records of it.
  const before = known !== undefined && (isUntouched || holdsOurs(root, placements)) ? known : null;
  const { edits, memory } = editsToApply(root, placements, before);
  const frame = Object.keys(root).length === 0 ? (of.frame ?? {}) : {};
  const framed = Object.entries(frame).map(([key, value]): Edit => ({ kind: "set", path: [key], value }));
  const bytes = encodeText({ ...content, text: editText(of.format, content.text, [...framed, ...edits]) });
  const record = {
    ...memory,
    file: file.realPath,
    number: Math.max(0, ...past.map(({ number }) => number)) + 1,
    written: digestOf(bytes),
    baseUrls: [...new Set([...past.flatMap(({ baseUrls }) => baseUrls), connection.apiUrl])],
  };
  const original = isUntouched && before !== null ? before.original : null;
  const origin = before === null ? "now" : { original, madeFolder: before.madeFolder };
  return { ...opened, edits, bytes, record, origin, isUntouched, past };
}

/** The purpose of a plan. */
export type AgentWork = { readonly agent: Agent; readonly connection: Connection; readonly machine: Machine };

/**
 * Writes what was planned, while no other run changes the agent's files. Errors: FileRefused, with every file of the agent
 * as it was.
 */
export async function carryOutPlan(
  planned: readonly PlannedFile[],
  { agent, connection, machine }: AgentWork,
  now: Date,
): Promise<WrittenFile[]> {
  if (planned.length === 0) return [];
  const folder = recordsFolder(machine);
  const locked = () => withAgentLock(folder, agent.id, () => writeUnlessPast());
  return orRefuse(planned[0]?.file.path ?? folder, locked);

  /** The records may have changed since the plan was made. A file that has changed itself is refused later. */
  async function writeUnlessPast(): Promise<WrittenFile[]> {
    const again = await planAgent(agent, connection, machine);
    const isSame =
      again.length === planned.length &&
      again.every(({ bytes }, index) => planned[index]?.bytes.equals(bytes) === true);
    return writePlan(isSame ? again : planned, { machine, now });
  }
}

/** Errors: FileRefused, with every file of the agent as it was. */
async function writePlan(
  planned: readonly PlannedFile[],
  { machine, now }: { machine: Machine; now: Date },
): Promise<WrittenFile[]> {
  const folder = recordsFolder(machine);
  const written: WrittenFile[] = [];
  const undoing: (() => Promise<void>)[] = [];
  try {
    // All that is needed to take it back comes first. A run that is killed in between has a record of a change that is not
    // there, which reset passes over.
    for (const { file, record, origin, isUntouched } of planned) {
      const backup = isUntouched ? null : await orRefuse(file.path, () => backUp(file, now));
      undoing.push(() => forgetBackup(backup));
      const asFound = backup === null || file.bytes === null ? "none" : { backup, digest: digestOf(file.bytes) };
      const madeFolder = await folderToMake(file.realPath);
      const found = { original: asFound, madeFolder } as const;
      const whole = { ...record, ...(origin === "now" ? found : origin) };
      const recordPath = await orRefuse(folder, () => remember(folder, whole));
      undoing.push(
        () => removeMadeFolders(file.realPath, madeFolder),
        () => forget(folder, [recordPath]),
      );
      written.push({ path: file.path, backup, isNew: file.bytes === null });
    }
    for (const { file, bytes } of planned) {
      await orRefuse(file.path, () => replaceConfigFile(file, bytes));
      undoing.push(() => takeBack(file.path, { ours: bytes, before: file.bytes }));
    }
  } catch (error) {
    for (const undo of undoing.toReversed()) await undo();
    throw error;
  }
  const past = planned.flatMap((each) => each.past.map(({ recordPath }) => recordPath));
  await orRefuse(folder, () => forget(folder, past));
  return written;
}

type Written = { readonly ours: Buffer; readonly before: Buffer | null };

/** Puts a file back that holds what we wrote. Where that fails, what is remembered stays, and reset can do it. */
async function takeBack(path: string, { ours, before }: Written): Promise<void> {
  await orRefuse(path, async () => {
    const now = await readConfigFile(path);
    if (now.bytes?.equals(ours) !== true) return; // another program has written it since, and that stays
    try {
      await (before === null ? removeConfigFile(now) : replaceConfigFile(now, before));
    } catch (error) {
      throw new UneditableFile("could not be put back, which saldo-agents reset does", { cause: error });
    }
  });
}
