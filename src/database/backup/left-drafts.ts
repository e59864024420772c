// What is left of base backups that were killed, or whose removal was: folders beside the others, which nothing restores.

import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { nullIfGone } from "../durable-files.ts";
import { listHistoryFolders } from "./backup-folder.ts";

const DRAFT = /^base-.*\.draft$/;
const LEFT_AFTER_MS = 3_600_000;

/** Removes the drafts of every history that nothing was written to for an hour. One that is being taken writes all the time. */
export async function removeLeftDrafts(root: string): Promise<void> {
  for (const folder of await listHistoryFolders(root)) {
    for (const name of (await readdir(join(root, folder))).filter((each) => DRAFT.test(each))) {
      const draft = join(root, folder, name);
      const writtenAtMs = await lastWrite(draft);
      if (writtenAtMs !== null && writtenAtMs < Date.now() - LEFT_AFTER_MS)
        await rm(draft, { recursive: true, force: true });
    }
  }
}

/** Null: the draft is gone. What another backup renames or removes meanwhile is no failure of this one. */
async function lastWrite(draft: string): Promise<number | null> {
  const names = await readdir(draft).catch(nullIfGone);
  if (names === null) return null;
  const times: number[] = [];
  for (const file of [draft, ...names.map((name) => join(draft, name))]) {
    const facts = await stat(file).catch(nullIfGone);
    if (facts !== null) times.push(facts.mtimeMs);
  }
  return times.length === 0 ? null : Math.max(...times);
}
