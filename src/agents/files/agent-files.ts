// The files of one agent, read as they are now.

import { lstat } from "node:fs/promises";
import type { Agent, AgentFile } from "../agent.ts";
import { UneditableFile, type ValueMap } from "../editing/edits.ts";
import { readMap } from "../editing/format.ts";
import type { Machine } from "../machine.ts";
import { type ConfigFile, readConfigFile } from "./config-file.ts";
import { decodeText, type FileText } from "./text.ts";

/** A file with its parsed content. */
export type OpenedFile = {
  readonly of: AgentFile;
  readonly file: ConfigFile;
  readonly content: FileText;
  readonly root: ValueMap;
};

/** A file of an agent stays as it is. */
export class FileRefused extends Error {
  constructor(path: string, cause: UneditableFile) {
    super(`${path} was left as it is: it ${cause.message}.`, { cause });
  }
}

/** The files of an agent that count now, or would be made. Errors: FileRefused. */
export async function openFiles(agent: Agent, machine: Machine): Promise<OpenedFile[]> {
  return Promise.all(
    agent.files.map(async (of) => {
      const [existing] = await existingCandidates(of, machine);
      return openFile(of, existing ?? of.made(machine));
    }),
  );
}

/** Every file of an agent that is there, also those that others count more than. Errors: FileRefused. */
export async function openEveryFile(agent: Agent, machine: Machine): Promise<OpenedFile[]> {
  const places = await Promise.all(
    agent.files.map(async (of) => (await existingCandidates(of, machine)).map((path) => ({ of, path }))),
  );
  return Promise.all(places.flat().map(({ of, path }) => openFile(of, path)));
}

/** The paths of an agent's files that are there. */
export async function existingFiles(agent: Agent, machine: Machine): Promise<string[]> {
  return (await Promise.all(agent.files.map((of) => existingCandidates(of, machine)))).flat();
}

/** Does something with a file, and names the file where that cannot be done. Errors: FileRefused. */
export async function orRefuse<Result>(path: string, work: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof UneditableFile) throw new FileRefused(path, error);
    throw error;
  }
}

async function existingCandidates(of: AgentFile, machine: Machine): Promise<string[]> {
  const found = await Promise.all(
    of.candidates(machine).map(async (path) => ({
      path,
      isThere: await lstat(path)
        .then(() => true)
        .catch(isNotMissing),
    })),
  );
  return found.filter(({ isThere }) => isThere).map(({ path }) => path);
}

/** A place that may not be looked at is not an empty one. */
function isNotMissing(error: unknown): boolean {
  return !(error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR"));
}

function openFile(of: AgentFile, path: string): Promise<OpenedFile> {
  return orRefuse(path, async () => {
    const file = await readConfigFile(path);
    const content = decodeText(file.bytes ?? Buffer.alloc(0));
    if (of.format.isPlain && content.hasMark) {
      throw new UneditableFile("begins with a byte-order mark, with which its agent drops it");
    }
    return { of, file, content, root: readMap(of.format, content.text) };
  });
}
