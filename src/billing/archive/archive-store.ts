// The tables of the archive, by a connection of the owner: the serving role may not write them.

import type { ClientBase } from "pg";
import type { RootSignature } from "../proof/signing.ts";
import type { Look } from "../../database/throttled-reader.ts";
import type { Month } from "./month.ts";
import type { AccountSums } from "./month-fold.ts";
import { type ColumnKind, RECORD_COLUMNS, type RecordRow } from "./record-row.ts";
import type { SignedText } from "./signed-text.ts";

export type ArchiveStep = "detached" | "dropped" | "restored";

const ROWS_PER_READ = 5_000;
const ROWS_PER_INSERT = 1_000;
const BEFORE_ALL = "00000000-0000-0000-0000-000000000000";

const COLUMNS = RECORD_COLUMNS.map(({ name }) => name).join(", ");
const JSON_COLUMNS = new Set(["other_tokens", "other_prices", "metering"]);
const AS_TEXT: Readonly<Record<ColumnKind, (name: string) => string>> = {
  uuid: (name) => `${name}::text`,
  text: (name) => `${name}::text`,
  int: (name) => `${name}::text`,
  bigint: (name) => `${name}::text`,
  boolean: (name) => `${name}::text`,
  day: (name) => `to_char(${name}, 'YYYY-MM-DD')`,
  moment: (name) => `(extract(epoch FROM ${name}) * 1000000)::bigint::text`,
};
const TEXTS = RECORD_COLUMNS.map(({ name, kind }) => AS_TEXT[kind](name)).join(", ");
const FROM_TEXT = RECORD_COLUMNS.map(({ name, kind }) => {
  if (kind === "moment") return `timestamptz 'epoch' + ${name}::bigint * interval '1 microsecond'`;
  if (JSON_COLUMNS.has(name)) return `${name}::jsonb`;
  return kind === "day" ? `${name}::date` : kind === "text" ? name : `${name}::${kind}`;
}).join(", ");

const NEWEST_SEAL_BEFORE = `SELECT text, signatures FROM usage_archive WHERE month < $1::date ORDER BY month DESC LIMIT 1`;
const SEAL = `SELECT text, signatures FROM usage_archive WHERE month = $1::date`;
const SEALED = `SELECT to_char(month, 'YYYY-MM') AS month FROM usage_archive ORDER BY month`;
const FILES = `SELECT text, signatures FROM usage_archive_file WHERE month = $1::date ORDER BY written_at`;
const ADD_SEAL = `INSERT INTO usage_archive (month, text, signatures) VALUES ($1::date, $2, $3::jsonb)`;
const ADD_FILE = `
INSERT INTO usage_archive_file (month, sha256, text, signatures) VALUES ($1::date, decode($2, 'hex'), $3, $4::jsonb) ON CONFLICT DO NOTHING`;
const ADD_STEP = `INSERT INTO usage_archive_step (month, step) VALUES ($1::date, $2)`;
const ADD_ACCOUNTS = `
INSERT INTO usage_archive_account (month, account_id, requests, input_tokens_uncached, input_tokens_cached, output_tokens, cost, charge, loss,
  first_id, last_id)
SELECT $1::date, * FROM unnest($2::uuid[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::numeric[], $8::numeric[], $9::numeric[],
  $10::uuid[], $11::uuid[]) ON CONFLICT DO NOTHING`;

const PARTITIONS = `
SELECT c.relname AS "table" FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
WHERE i.inhparent = 'usage_record'::regclass AND c.relname ~ '^usage_record_[0-9]{4}_[0-9]{2}$' ORDER BY c.relname`;
const HAS_TABLE = `SELECT to_regclass('public.' || $1) IS NOT NULL AS has`;
const NOW = `SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms`;

/** Reads by a connection of the owner as audits do. */
export const lookBy =
  (client: ClientBase): Look =>
  async <Row extends object>(text: string, values: readonly unknown[] = []) =>
    (await client.query<Row>(text, [...values])).rows;

export const dateOf = ({ name }: Pick<Month, "name">): string => `${name}-01`;

/** The months whose partitions are attached, oldest first. */
export async function attachedMonths(client: ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ table: string }>(PARTITIONS);
  return rows.map(({ table }) => table.slice("usage_record_".length).replace("_", "-"));
}

export async function hasTable(client: ClientBase, table: string): Promise<boolean> {
  return (await client.query<{ has: boolean }>(HAS_TABLE, [table])).rows[0]?.has === true;
}

export async function readNowMs(client: ClientBase): Promise<number> {
  return (await client.query<{ ms: number }>(NOW)).rows[0]?.ms ?? 0;
}

export async function sealedMonths(client: ClientBase): Promise<string[]> {
  return (await client.query<{ month: string }>(SEALED)).rows.map(({ month }) => month);
}

export async function sealOfMonth(client: ClientBase, month: Month): Promise<SignedText | null> {
  return (await client.query<SignedText>(SEAL, [dateOf(month)])).rows[0] ?? null;
}

export async function sealBefore(client: ClientBase, month: Month): Promise<SignedText | null> {
  return (await client.query<SignedText>(NEWEST_SEAL_BEFORE, [dateOf(month)])).rows[0] ?? null;
}

/** The manifests that were recorded of a month. */
export async function manifestsOf(client: ClientBase, month: Month): Promise<SignedText[]> {
  return (await client.query<SignedText>(FILES, [dateOf(month)])).rows;
}

export async function addManifest(
  client: ClientBase,
  month: Month,
  { manifest, sha256 }: { manifest: SignedText; sha256: string },
): Promise<void> {
  await client.query(ADD_FILE, [dateOf(month), sha256, manifest.text, jsonOf(manifest.signatures)]);
}

export async function addStep(client: ClientBase, month: Month, step: ArchiveStep): Promise<void> {
  await client.query(ADD_STEP, [dateOf(month), step]);
}

/** Records a seal. */
export async function addSeal(client: ClientBase, month: Month, seal: SignedText): Promise<void> {
  await client.query(ADD_SEAL, [dateOf(month), seal.text, jsonOf(seal.signatures)]);
}

/** Writes sums of accounts that are not there yet. A seal that was not finished has left the same. */
export async function addAccounts(client: ClientBase, month: Month, sums: readonly AccountSums[]): Promise<void> {
  const column = (name: keyof AccountSums): unknown[] => sums.map((each) => each[name]);
  await client.query(ADD_ACCOUNTS, [
    dateOf(month),
    column("accountId"),
    column("requests"),
    column("inputTokensUncached"),
    column("inputTokensCached"),
    column("outputTokens"),
    column("cost"),
    column("charge"),
    column("loss"),
    column("firstId"),
    column("lastId"),
  ]);
}

/** The records of a month's table in the order of their key, some thousand at a time, each read a snapshot of its own. */
export async function* readRecords(client: ClientBase, table: string): AsyncGenerator<readonly RecordRow[], void> {
  const text = `
SELECT ${TEXTS} FROM ${table} WHERE (account_id, request_id) > ($1::uuid, $2::uuid) ORDER BY account_id, request_id LIMIT ${ROWS_PER_READ}`;
  for (let after: readonly (string | null)[] = [BEFORE_ALL, BEFORE_ALL]; ;) {
    const { rows } = await client.query<(string | null)[]>({ text, values: after.slice(0, 2), rowMode: "array" });
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows;
    after = last;
  }
}

/** Writes records into a table. */
export async function insertRecords(client: ClientBase, table: string, rows: readonly RecordRow[]): Promise<void> {
  const parameters = RECORD_COLUMNS.map((_, place) => `$${place + 1}::text[]`).join(", ");
  const text = `INSERT INTO ${table} (${COLUMNS}) SELECT ${FROM_TEXT} FROM unnest(${parameters}) AS row(${COLUMNS})`;
  for (let from = 0; from < rows.length; from += ROWS_PER_INSERT) {
    const part = rows.slice(from, from + ROWS_PER_INSERT);
    await client.query(
      text,
      RECORD_COLUMNS.map((_, place) => part.map((row) => row[place])),
    );
  }
}

function jsonOf(signatures: readonly RootSignature[]): string {
  return JSON.stringify(signatures);
}
