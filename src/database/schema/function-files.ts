// The functions of the database as files: `functions/<subject>.sql`, applied again whenever the text of one has changed.

import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import type { Client } from "pg";
import { sqlState } from "../transactions.ts";

/** A file of functions. */
export type FunctionFile = { readonly name: string; readonly text: string; readonly hash: string };

/** What PostgreSQL answers where a function is made again with another result. */
const OTHER_RESULT = "42P13";
const MADE = /^CREATE OR REPLACE FUNCTION ([\w.]+)/gm;
const VERSIONS = `
SELECT p.oid::text || ' ' || p.xmin::text AS version, p.oid::regprocedure::text AS signature FROM pg_proc p
WHERE p.pronamespace::regnamespace::text || '.' || p.proname = ANY ($1::text[])`;
const RECORD = `
INSERT INTO schema_function (name, hash) VALUES ($1, $2)
ON CONFLICT (name) DO UPDATE SET hash = excluded.hash, applied_at = clock_timestamp()`;

/** Reads the files of a folder, in the order of their names. */
export async function readFunctionFiles(folder: URL): Promise<FunctionFile[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".sql")).toSorted();
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(new URL(name, folder), "utf8");
      return { name: name.slice(0, -".sql".length), text, hash: createHash("sha256").update(text).digest("hex") };
    }),
  );
}

/** Makes or replaces the functions of some files inside the caller's transaction, and records the files' hashes. */
export async function applyFunctions(client: Client, files: readonly FunctionFile[]): Promise<void> {
  for (const file of files) {
    await applyFile(client, file);
    await client.query(RECORD, [file.name, file.hash]);
  }
}

async function applyFile(client: Client, { text }: FunctionFile): Promise<void> {
  const names = Array.from(text.matchAll(MADE), ([, name = ""]) => (name.includes(".") ? name : `public.${name}`));
  const before = await versionsOf(client, names);
  await client.query("SAVEPOINT functions");
  try {
    await client.query(text);
  } catch (error) {
    if (sqlState(error) !== OTHER_RESULT) throw error;
    await client.query("ROLLBACK TO SAVEPOINT functions");
    await drop(client, [...before.values()]);
    await client.query(text);
    return;
  }
  // With other parameters a function of the same name came beside the former one, which was not replaced.
  const after = await versionsOf(client, names);
  await drop(
    client,
    [...before].filter(([version]) => after.has(version)).map(([, signature]) => signature),
  );
}

/** Versions of the functions' rows, which every replacement changes, with their signatures. */
async function versionsOf(client: Client, names: readonly string[]): Promise<Map<string, string>> {
  const { rows } = await client.query<{ version: string; signature: string }>(VERSIONS, [names]);
  return new Map(rows.map(({ version, signature }) => [version, signature]));
}

async function drop(client: Client, signatures: readonly string[]): Promise<void> {
  for (const signature of signatures) await client.query(`DROP FUNCTION ${signature}`);
}
