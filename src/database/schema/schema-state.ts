// The state of a database's schema, and whether this code may run on it.

import type { Client } from "pg";
import type { FunctionFile } from "./function-files.ts";
import type { Migration, SchemaCode } from "../migrations/migrations.ts";

/** The state of the schema, as recorded in the database. */
export type SchemaState = {
  readonly database: string;
  /** The changes it has; none: a fresh database, or one of the former migrations. */
  readonly applied: ReadonlySet<number>;
  /** The newest change it has, and the newest that code must know to run on it. */
  readonly version: number;
  readonly oldestCode: number;
  /** The hash of each file of functions that was applied. */
  readonly functions: ReadonlyMap<string, string>;
  /** The last of the former migrations that it has, where it was not taken over yet. */
  readonly formerMigration: string | null;
};

const EXISTS = `
SELECT current_database() AS database, to_regclass('schema_change') IS NOT NULL AS "hasChanges",
       to_regclass('mikro_orm_migrations') IS NOT NULL AS "isFormer"`;
const CHANGES = `SELECT number, oldest_code AS "oldestCode" FROM schema_change`;
const FUNCTIONS = `SELECT name, hash FROM schema_function`;
const FORMER = `SELECT name FROM mikro_orm_migrations ORDER BY id DESC LIMIT 1`;

/** Reads the state of the schema. */
export async function readSchemaState(client: Client): Promise<SchemaState> {
  const { rows } = await client.query<{ database: string; hasChanges: boolean; isFormer: boolean }>(EXISTS);
  const { database = "", hasChanges = false, isFormer = false } = rows[0] ?? {};
  const none = {
    database,
    applied: new Set<number>(),
    version: 0,
    oldestCode: 0,
    functions: new Map<string, string>(),
  };
  if (!hasChanges) {
    const former = isFormer ? (await client.query<{ name: string }>(FORMER)).rows[0]?.name : undefined;
    return { ...none, formerMigration: former ?? null };
  }
  const changes = (await client.query<{ number: number; oldestCode: number }>(CHANGES)).rows;
  const functions = (await client.query<{ name: string; hash: string }>(FUNCTIONS)).rows;
  return {
    database,
    applied: new Set(changes.map(({ number }) => number)),
    version: Math.max(0, ...changes.map(({ number }) => number)),
    oldestCode: Math.max(0, ...changes.map(({ oldestCode }) => oldestCode)),
    functions: new Map(functions.map(({ name, hash }) => [name, hash])),
    formerMigration: null,
  };
}

/** What a database lacks of this code's schema. */
export type Lacking = { readonly migrations: readonly Migration[]; readonly functions: readonly FunctionFile[] };

/**
 * What a database lacks. Nothing where it is newer than this code: then its functions are the newer code's, which runs beside
 * this one or was just rolled back. Throws where this code is too old to run on it.
 */
export function lackingOf(state: SchemaState, { migrations }: SchemaCode, files: readonly FunctionFile[]): Lacking {
  const ours = migrations.at(-1)?.number ?? 0;
  if (ours < state.oldestCode) {
    throw new Error(
      `The schema of database ${state.database} is at change ${state.version} and needs a Saldo that has change ` +
        `${state.oldestCode}; this one has up to change ${ours}. Start the newer version, or set DATABASE_URL or ` +
        `SALDO_DATA_DIR to another database.`,
    );
  }
  if (ours < state.version) return { migrations: [], functions: [] };
  return {
    migrations: migrations.filter(({ number }) => !state.applied.has(number)),
    functions: files.filter(({ name, hash }) => state.functions.get(name) !== hash),
  };
}
