// Files that are durable when a step has ended: their bytes, and their names in their folders.

import { randomUUID } from "node:crypto";
import { mkdir, open, rm } from "node:fs/promises";
import { dirname } from "node:path";

/** Makes a folder, and makes its name durable. */
export async function makeFolder(folder: string): Promise<void> {
  const made = await mkdir(folder, { recursive: true, mode: 0o700 });
  if (made !== undefined)
    for (let each = folder; each.length >= made.length; each = dirname(each)) await syncFolder(dirname(each));
}

/** Makes the names in a folder durable. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Writes a file of its own, durably, and puts it into place. Nothing of it is left where that fails. */
export async function putWhole(path: string, text: string, put: (own: string) => Promise<void>): Promise<void> {
  const own = `${path}.${randomUUID()}`;
  try {
    const handle = await open(own, "wx", 0o600);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await put(own);
  } finally {
    await rm(own, { force: true });
  }
  await syncFolder(dirname(path));
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}

/** For what may not be there. */
export function nullIfGone(error: unknown): null {
  if (hasCode(error, "ENOENT")) return null;
  throw error;
}

/** For what may be there already. */
export function ignoreIfThere(error: unknown): void {
  if (!hasCode(error, "EEXIST")) throw error;
}
