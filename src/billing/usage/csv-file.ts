// Records as a file. They are read page by page by the key, oldest first, each page in a snapshot of its own: a file of millions
// of records taken over a slow line keeps no row of the database from being cleaned, and no more than a page in memory.

import { csvLine, type CsvField } from "./csv.ts";

/** How many records are read at a time. */
export const RECORDS_PER_PIECE = 1_000;

type CsvSource<Row> = {
  /** The names in the first line. */
  readonly columns: readonly string[];
  readonly fieldsOf: (row: Row) => readonly CsvField[];
  /** The next rows behind this one, `RECORDS_PER_PIECE` at most. Undefined: the first. */
  readonly readAfter: (last: Row | undefined) => Promise<readonly Row[]>;
  readonly signal: AbortSignal | undefined;
};

/** Returns the pieces of one file. */
export async function* csvFile<Row>({
  columns,
  fieldsOf,
  readAfter,
  signal,
}: CsvSource<Row>): AsyncGenerator<string, void> {
  let piece = csvLine(columns);
  for (let last: Row | undefined; ;) {
    signal?.throwIfAborted();
    const rows = await readAfter(last);
    yield piece + rows.map((row) => csvLine(fieldsOf(row))).join("");
    last = rows.at(-1);
    if (last === undefined || rows.length < RECORDS_PER_PIECE) return;
    piece = "";
  }
}
