// Drafts of base backups in a folder: which of them the next backup removes.

import { mkdir, mkdtemp, readdir, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { removeLeftDrafts } from "./left-drafts.ts";

const HOUR_MS = 3_600_000;
const [OURS, OTHERS] = ["7001-2", "7001-1"];
let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "saldo-drafts-"));
});
afterEach(() => rm(root, { recursive: true }));

/** A folder with a file, both written so long ago. */
async function writeBase(folder: string, name: string, agoMs: number): Promise<string> {
  const path = join(root, folder, name);
  await mkdir(path, { recursive: true });
  await writeFile(join(path, "base.tar.sealed"), "a part of a base backup");
  const at = new Date(Date.now() - agoMs);
  for (const each of [join(path, "base.tar.sealed"), path]) await utimes(each, at, at);
  return path;
}
const left = async (folder: string) => (await readdir(join(root, folder))).toSorted();

test("a draft that nothing was written to for an hour is removed, and a complete base backup is not", async () => {
  await writeBase(OURS, "base-20261127T000000000Z.draft", 1.1 * HOUR_MS);
  await writeBase(OURS, "base-20261127T010000000Z", 1.1 * HOUR_MS);
  await writeBase(OURS, "base-20261127T020000000Z.draft", 0.9 * HOUR_MS);
  await removeLeftDrafts(root);
  expect(await left(OURS)).toEqual(["base-20261127T010000000Z", "base-20261127T020000000Z.draft"]);
});

test("a draft that was begun long ago and is still written to is kept", async () => {
  const draft = await writeBase(OURS, "base-20261127T000000000Z.draft", 9 * HOUR_MS);
  const [now, begun] = [new Date(), new Date(Date.now() - 9 * HOUR_MS)];
  await utimes(join(draft, "base.tar.sealed"), now, now);
  await utimes(draft, begun, begun);
  await removeLeftDrafts(root);
  expect(await left(OURS)).toEqual(["base-20261127T000000000Z.draft"]);
});

test("the drafts of former histories are removed as well", async () => {
  await writeBase(OURS, "base-20261127T000000000Z", 0);
  await writeBase(OTHERS, "base-20261126T000000000Z.draft", 2 * HOUR_MS);
  await removeLeftDrafts(root);
  expect(await left(OTHERS)).toEqual([]);
});

test("a file of another backup that is gone when it is looked at fails nothing", async () => {
  const draft = await writeBase(OURS, "base-20261127T000000000Z.draft", 0);
  // Listed, and not there when it is asked for, as a draft of a file that is put into place meanwhile.
  await symlink(join(root, "nowhere"), join(draft, "about.sealed.17-1.draft"));
  await removeLeftDrafts(root);
  expect(await left(OURS)).toHaveLength(1);
});
