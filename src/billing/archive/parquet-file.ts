// A month of records as a Parquet file. It is written group by group as the records come, so memory does not grow with the month; each
// group is compressed with zstd. Whole numbers are INT64 or INT32, moments are microseconds of UTC, ids are of the type UUID.

import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";
import { open } from "node:fs/promises";
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { type AsyncBuffer, type FileMetaData, parquetMetadataAsync, parquetRead, type SchemaElement } from "hyparquet";
import { ByteWriter, ParquetWriter } from "hyparquet-writer";
import { DAY_MS } from "../../kernel/clock.ts";
import { type ColumnKind, RECORD_COLUMNS, type RecordRow } from "./record-row.ts";

/** Records of a group: some ten megabytes in memory. */
export const RECORDS_PER_GROUP = 20_000;
const CREATED_BY = "saldo usage archive";
const UUID_BYTES = 16;

type Element = Omit<SchemaElement, "name" | "repetition_type">;
type Value = string | number | bigint | boolean | null | undefined;

const ELEMENTS = {
  uuid: { type: "FIXED_LEN_BYTE_ARRAY", type_length: UUID_BYTES, logical_type: { type: "UUID" } },
  text: { type: "BYTE_ARRAY", converted_type: "UTF8", logical_type: { type: "STRING" } },
  int: { type: "INT32" },
  bigint: { type: "INT64" },
  boolean: { type: "BOOLEAN" },
  day: { type: "INT32", converted_type: "DATE", logical_type: { type: "DATE" } },
  moment: {
    type: "INT64",
    converted_type: "TIMESTAMP_MICROS",
    logical_type: { type: "TIMESTAMP", isAdjustedToUTC: true, unit: "MICROS" },
  },
} as const satisfies Record<ColumnKind, Element>;

const SCHEMA: SchemaElement[] = [
  { name: "usage_record", num_children: RECORD_COLUMNS.length },
  ...RECORD_COLUMNS.map(({ name, kind, isNullable }): SchemaElement => ({
    name,
    ...ELEMENTS[kind],
    repetition_type: isNullable ? "OPTIONAL" : "REQUIRED",
  })),
];

/** The columns of a file and their types, for its manifest. */
export const FILE_SCHEMA: readonly string[] = RECORD_COLUMNS.map(
  ({ name, kind, isNullable }) => `${name} ${kind}${isNullable ? " null" : ""}`,
);

const toValue: Readonly<Record<ColumnKind, (text: string) => Value>> = {
  uuid: (text) => text,
  text: (text) => text,
  int: Number,
  bigint: BigInt,
  boolean: (text) => text === "true",
  day: (text) => Date.parse(`${text}T00:00:00Z`) / DAY_MS,
  moment: BigInt,
};
const dayText = (days: number): string => new Date(days * DAY_MS).toISOString().slice(0, "2026-11-27".length);
/** The library's parsers would round moments to milliseconds. */
const PARSERS = { timestampFromMicroseconds: String, dateFromDays: dayText };

/** A new file of the archive. */
export class ParquetFile {
  readonly #descriptor: number;
  readonly #bytes = new ByteWriter();
  readonly #parquet: ParquetWriter;
  #waiting: RecordRow[] = [];

  /** Errors: the file exists. */
  constructor(path: string) {
    this.#descriptor = openSync(path, "wx", 0o600);
    this.#parquet = new ParquetWriter({
      writer: Object.assign(this.#bytes, { flush: () => this.#flush() }),
      schema: SCHEMA,
      codec: "ZSTD",
      compressors: { ZSTD: (input) => zstdCompressSync(input) },
      createdBy: CREATED_BY,
    });
  }

  add(row: RecordRow): void {
    this.#waiting.push(row);
    if (this.#waiting.length === RECORDS_PER_GROUP) this.#writeGroup();
  }

  /** Writes what is left, and waits until the file is on the disk. */
  end(): void {
    this.#writeGroup();
    void this.#parquet.finish();
    this.#flush();
    fsyncSync(this.#descriptor);
    this.close();
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  #writeGroup(): void {
    const rows = this.#waiting;
    this.#waiting = [];
    if (rows.length === 0) return;
    const columnData = RECORD_COLUMNS.map(({ name, kind }, place) => ({
      name,
      // No reader needs it, and it would be kept in memory until the end.
      offsetIndex: false,
      data: rows.map((row) => valueOf(row[place] ?? null, kind)),
    }));
    void this.#parquet.write({ columnData, rowGroupSize: RECORDS_PER_GROUP });
  }

  #flush(): void {
    const bytes = this.#bytes;
    const chunk = new Uint8Array(bytes.buffer, 0, bytes.index);
    for (let at = 0; at < chunk.length;) at += writeSync(this.#descriptor, chunk, at);
    bytes.index = 0;
  }
}

function valueOf(text: string | null, kind: ColumnKind): Value {
  return text === null ? null : toValue[kind](text);
}

/** The records of a file, a group at a time. Errors: it is no file of the archive, or was changed so that it cannot be read. */
export async function* readParquet(path: string): AsyncGenerator<readonly RecordRow[], void> {
  await using handle = await open(path);
  const { size } = await handle.stat();
  const file: AsyncBuffer = {
    byteLength: size,
    async slice(start, end = size) {
      const bytes = Buffer.alloc(end - start);
      await handle.read(bytes, 0, bytes.length, start);
      return bytes.buffer;
    },
  };
  const metadata = await parquetMetadataAsync(file);
  requireSchema(path, metadata);
  let rowStart = 0;
  for (const group of metadata.row_groups) {
    const rowEnd = rowStart + Number(group.num_rows);
    yield await readRows({ file, metadata, rowStart, rowEnd });
    rowStart = rowEnd;
  }
}

async function readRows(range: {
  file: AsyncBuffer;
  metadata: FileMetaData;
  rowStart: number;
  rowEnd: number;
}): Promise<RecordRow[]> {
  let rows: Value[][] = [];
  await parquetRead({
    ...range,
    columns: RECORD_COLUMNS.map(({ name }) => name),
    parsers: PARSERS,
    compressors: { ZSTD: (input) => zstdDecompressSync(input) },
    onComplete: (read) => {
      rows = read as Value[][];
    },
  });
  return rows.map((row) => row.map((value) => (value === null || value === undefined ? null : String(value))));
}

function requireSchema(path: string, { schema }: FileMetaData): void {
  const found = schema.slice(1).map(({ name, type, repetition_type: repetition }) => `${name} ${type} ${repetition}`);
  const wanted = SCHEMA.slice(1).map(({ name, type, repetition_type: repetition }) => `${name} ${type} ${repetition}`);
  if (found.join("\n") !== wanted.join("\n")) throw new Error(`${path} has other columns than a file of the archive.`);
}
