/** Rows of parameters turned into columns: one array per parameter, as `unnest` takes them. */
export function columnsOf(rows: readonly unknown[][]): unknown[][] {
  const width = rows[0]?.length ?? 0;
  return Array.from({ length: width }, (_, column) => rows.map((row) => row[column]));
}
