/** The type of a money statement's parameter. */
export type Parameter = string | number | bigint | boolean | null;

/**
 * Rows of parameters turned into columns, one array literal per parameter, as `unnest` takes them. Written here because the
 * driver escapes every element of every array, and hardly any of ours needs it.
 */
export function columnsOf(rows: readonly (readonly Parameter[])[], width = rows[0]?.length ?? 0): string[] {
  const columns: string[] = [];
  for (let column = 0; column < width; column += 1) {
    let literal = "{";
    for (let row = 0; row < rows.length; row += 1)
      literal += (row === 0 ? "" : ",") + elementOf(rows[row]?.[column] ?? null);
    columns.push(`${literal}}`);
  }
  return columns;
}

const NULL = "NULL";
/** The characters that an array literal takes without quotes: UUIDs, numbers, dates, most names. */
const PLAIN = /^[\w./:-]+$/;

function elementOf(value: Parameter): string {
  if (value === null) return NULL;
  if (typeof value !== "string") return String(value);
  // The word null without quotes would be NULL and not a text.
  if (PLAIN.test(value) && (value.length !== NULL.length || value.toUpperCase() !== NULL)) return value;
  return `"${value.replaceAll(/["\\]/g, "\\$&")}"`;
}

/** One row of parameters as text. */
export function textsOf(row: readonly Parameter[]): (string | null)[] {
  return row.map((value) => (value === null ? null : String(value)));
}
