// What a command prints for people: lines, and tables with a header and, where sums mean something, a last line of totals.

import { printable } from "../kernel/unprintable.ts";

const GAP = "  ";
/** The cell of a value that is not there. */
const NOTHING = "-";

export type Cell = string | number | bigint | Date | null;

/** One column: its header, the cell of each item, and the cell of the last line. */
export type Column<Item> = {
  readonly name: string;
  readonly of: (item: Item) => Cell;
  /** Numbers are aligned on the right. */
  readonly isNumber?: boolean;
  /** Its cell in the line of totals. */
  readonly total?: Cell;
};

export type Table = {
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Null: there is no such line. */
  readonly total: readonly string[] | null;
  readonly isNumber: readonly boolean[];
  /** What is printed where there are no rows. */
  readonly none: string;
};

/** What a person reads: lines and tables. */
export type Shown = string | Table | readonly (string | Table)[];

/** A table of items. The line of totals is there when a column has one. */
export function tableOf<Item>(items: Iterable<Item>, columns: readonly Column<Item>[], none: string): Table {
  const hasTotal = columns.some(({ total }) => total !== undefined);
  return {
    header: columns.map(({ name }) => name.toUpperCase()),
    rows: [...items].map((item) => columns.map(({ of }) => textOf(of(item)))),
    total: hasTotal
      ? columns.map(({ total }, at) => (total === undefined ? (at === 0 ? "TOTAL" : "") : textOf(total)))
      : null,
    isNumber: columns.map(({ isNumber }) => isNumber === true),
    none,
  };
}

/** A column of text. */
export function column<Item>(name: string, of: (item: Item) => Cell): Column<Item> {
  return { name, of };
}

/** A column of numbers, with its total where there is one. */
export function numbers<Item>(name: string, of: (item: Item) => Cell, total?: Cell): Column<Item> {
  return { name, of, isNumber: true, ...(total === undefined ? {} : { total }) };
}

/** The text of what a command shows. */
export function print(shown: Shown): string {
  const blocks = typeof shown === "string" || "header" in shown ? [shown] : shown;
  return blocks.map((block) => (typeof block === "string" ? block : printTable(block))).join("\n");
}

function printTable({ header, rows, total, isNumber, none }: Table): string {
  if (rows.length === 0) return none;
  const lines = [header, ...rows, ...(total === null ? [] : [total])];
  const widths = header.map((_name, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0)));
  return lines
    .map((line) =>
      line
        .map((cell, at) => (isNumber[at] === true ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0)))
        .join(GAP)
        .trimEnd(),
    )
    .join("\n");
}

function textOf(cell: Cell): string {
  if (cell === null || cell === "") return NOTHING;
  return cell instanceof Date ? cell.toISOString() : printable(String(cell));
}
