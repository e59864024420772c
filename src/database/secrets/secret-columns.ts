// Where secrets lie, as the rooms that own the tables describe it, and reading them in pages.

import type { Pool, PoolClient } from "pg";
import { sealText, type SealedForm } from "../../kernel/sealed-text.ts";

/** Columns of a table whose texts are secrets. Names go into statements as they are: they are constants of the code. */
export type SecretColumns = {
  readonly table: string;
  /** The column that identifies a row, and its type. */
  readonly id: string;
  readonly idType: "uuid" | "boolean";
  readonly columns: readonly string[];
  /** The name of a secret in its encryption: of its table, column and row. */
  readonly nameOf: (column: string, id: string) => string;
  /** What the version before stores: text that the master key encrypts, or the text itself. */
  readonly formerIs: "sealed" | "plain";
};

export type SecretText = { readonly id: string; readonly column: string; readonly name: string; readonly text: string };

type Row = Readonly<Record<string, string | null>>;

const ROWS_AT_ONCE = 200;

/** The stored texts of some columns, in pages by row. `except`: those that begin with one of these are left out. */
export async function* readTexts(
  client: Pick<Pool | PoolClient, "query">,
  { table, id, idType, columns, nameOf }: SecretColumns,
  except: readonly string[] = [],
): AsyncGenerator<SecretText> {
  const isWanted = columns.map(
    (column) =>
      `(${column} IS NOT NULL AND NOT EXISTS (SELECT FROM unnest($2::text[]) e WHERE starts_with(${column}, e)))`,
  );
  const page = `
SELECT ${id}::text AS "rowId", ${columns.join(", ")} FROM ${table}
WHERE ($1::${idType} IS NULL OR ${id} > $1::${idType}) AND (${isWanted.join(" OR ")}) ORDER BY ${id} LIMIT ${ROWS_AT_ONCE}`;
  let after: string | null = null;
  do {
    const { rows }: { rows: Row[] } = await client.query<Row>(page, [after, except]);
    for (const row of rows) {
      const rowId = String(row["rowId"]);
      for (const column of columns) {
        const text = row[column];
        if (text === null || text === undefined || except.some((prefix) => text.startsWith(prefix))) continue;
        yield { id: rowId, column, name: nameOf(column, rowId), text };
      }
    }
    after = rows.at(-1)?.["rowId"] ?? null;
  } while (after !== null);
}

/** Replaces a stored text. False: it was changed meanwhile, and stays as it is. */
export async function replaceText(
  client: Pick<Pool | PoolClient, "query">,
  { table, id, idType }: SecretColumns,
  { column, id: rowId, text }: SecretText,
  replacement: string,
): Promise<boolean> {
  const replace = `UPDATE ${table} SET ${column} = $3 WHERE ${id} = $1::${idType} AND ${column} = $2`;
  return (await client.query(replace, [rowId, text, replacement])).rowCount === 1;
}

/** A text that the version before stored as it is. */
export function sealPlain(name: string, text: string, form: SealedForm): string {
  return form === "envelope" ? sealText(name, text, form) : text;
}
