// What tests of backups share: the folders, answers that the books have, and whether their log was received.

import { join } from "node:path";
import { expect } from "vitest";
import { startEmbeddedPostgres } from "../../src/database/embedded/embedded-postgres.ts";
import { makeDataDir, removeDataDir } from "./own-server.ts";
import { saldoJson } from "./saldo-command.ts";
import { onServer } from "./test-servers.ts";

/** A key in what a start announces. */
export const DEMO_KEY = /gw_[A-Za-z0-9]{49}/;
export const BACKUP_SECRET = { SALDO_BACKUP_KEY: "a key of a test that is long enough for what it encrypts" } as const;

const HELLO = JSON.stringify({ model: "demo/small", messages: [{ role: "user", content: "Hello!" }] });

/** Folders of a test, with or without a cluster. */
export class Folders {
  readonly #made: string[] = [];

  async make(): Promise<string> {
    const path = await makeDataDir();
    this.#made.push(path);
    return path;
  }

  async remove(): Promise<void> {
    for (const each of this.#made) await removeDataDir(each);
  }
}

/** The superuser's URL of the server in a data folder. */
export function urlIn(dir: string): string {
  return `postgres://postgres@localhost/postgres?host=${encodeURIComponent(join(dir, "socket"))}`;
}

/** One chat request. Errors: no answer arrived. */
export async function ask(httpUrl: string, key: string): Promise<{ status: number; requestId: string }> {
  const response = await fetch(`${httpUrl}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: HELLO,
  });
  const { id } = (await response.json()) as { id?: string };
  return { status: response.status, requestId: (id ?? "").replace("chatcmpl-", "") };
}

/** Chat requests that are answered. */
export async function chat(httpUrl: string, key: string, times = 1): Promise<void> {
  for (let time = 0; time < times; time += 1) expect(await ask(httpUrl, key)).toMatchObject({ status: 200 });
}

/** Whether the receiver of the log has everything that the server of a data folder has written by now. */
export async function receivedAll(dir: string): Promise<boolean> {
  const text =
    "SELECT flush_lsn >= pg_current_wal_flush_lsn() AS all FROM pg_stat_replication WHERE application_name = 'saldo_backup'";
  return (await onServer(urlIn(dir), text)).rows[0]?.all === true;
}

/** Works on the server of a data folder, which is started for it. */
export async function withServerIn<T>(dir: string, work: () => Promise<T>): Promise<T> {
  const server = await startEmbeddedPostgres({ dataDir: dir });
  try {
    return await work();
  } finally {
    await server.stop({ evenWithClients: true });
  }
}

/** The ids of the answers in the books of a data folder, whose server runs. */
export async function answersIn(dir: string): Promise<string[]> {
  const { rows } = await onServer(urlIn(dir), "SELECT request_id AS id FROM usage_record");
  return rows.map(({ id }) => id);
}

/** Restores into a folder of its own. Returns what was printed, and how many answers the restored books have. */
export async function restore(
  root: string,
  dir: string,
  { words = [], settings = BACKUP_SECRET }: { words?: readonly string[]; settings?: Record<string, string> } = {},
): Promise<Record<string, unknown> & { readonly records: number }> {
  const restored = await saldoJson(["restore", "--from", root, "--data-dir", dir, ...words], settings);
  return { ...restored, records: (await withServerIn(dir, () => answersIn(dir))).length };
}
