// A usage record as texts, one for each column, as the database and a file of the archive both give it. The digest of a month is over
// these texts, so a column keeps its form for ever, and a new column comes last.

/** How a column is written: in the database as text, in a file as a type of Parquet. */
export type ColumnKind = "uuid" | "text" | "int" | "bigint" | "boolean" | "day" | "moment";

export type RecordColumn = { readonly name: string; readonly kind: ColumnKind; readonly isNullable: boolean };

/** The texts of a record's columns, in the order of `RECORD_COLUMNS`. */
export type RecordRow = readonly (string | null)[];

const needed = (name: string, kind: ColumnKind): RecordColumn => ({ name, kind, isNullable: false });
const optional = (name: string, kind: ColumnKind): RecordColumn => ({ name, kind, isNullable: true });

/** The columns of a usage record. JSON is text: another form of the same value has another digest. */
export const RECORD_COLUMNS: readonly RecordColumn[] = [
  needed("account_id", "uuid"),
  needed("request_id", "uuid"),
  needed("key_id", "uuid"),
  needed("model", "text"),
  needed("input_tokens_uncached", "int"),
  needed("input_tokens_cached", "int"),
  needed("output_tokens", "int"),
  needed("input_price", "bigint"),
  needed("output_price", "bigint"),
  optional("cache_hit_price", "bigint"),
  needed("cost", "bigint"),
  needed("charge", "bigint"),
  needed("basis", "text"),
  needed("billing_day", "day"),
  optional("upstream", "text"),
  optional("upstream_model", "text"),
  optional("upstream_request_id", "text"),
  optional("upstream_cost", "bigint"),
  needed("streamed", "boolean"),
  needed("duration_ms", "int"),
  optional("first_byte_ms", "int"),
  needed("clamped", "boolean"),
  optional("other_tokens", "text"),
  optional("other_prices", "text"),
  optional("metering", "text"),
  needed("unbilled_cost", "bigint"),
  optional("settled_at", "moment"),
];

/** The places of the columns that are summed, and of the key. */
export const PLACE = Object.fromEntries(RECORD_COLUMNS.map(({ name }, place) => [name, place])) as Readonly<
  Record<string, number>
>;

/** A column of a row that is never null. */
export function textAt(row: RecordRow, name: string): string {
  return row[PLACE[name] ?? -1] ?? "";
}

/** The canonical text of a record. */
export function canonicalText(row: RecordRow): string {
  return `${JSON.stringify(row)}\n`;
}
