import { ArrowDown, ArrowUp, ArrowUpDown } from "lucide-react";
import type { ReactNode } from "react";
import { nextOrder, readOrder, type SortValue } from "./order.ts";

export type Column<Row> = {
  readonly key: string;
  readonly head: ReactNode;
  readonly cell: (row: Row) => ReactNode;
  /** Makes the column sortable, where the table has an order. */
  readonly value?: (row: Row) => SortValue;
  /** Whether the server sorts by the column, whose key is then the name in the contract. */
  readonly isSorted?: boolean;
  /** Numbers are aligned to the right. */
  readonly right?: boolean;
  /** Hidden on narrow pages, where the row's other cells suffice. */
  readonly wide?: boolean;
  /** The row's actions: they stay visible at the right edge while the rest scrolls. */
  readonly acts?: boolean;
};

export type TableProps<Row> = {
  /** The table's description for screen readers. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** Makes the first cell of each row a button that opens it. */
  readonly onOpen?: (row: Row) => void;
  readonly openLabel?: (row: Row) => string;
  /** The order in the address, and its change. The rows come in that order (`inOrder`, or from the server). */
  readonly sort?: Sort;
};

export type Sort = {
  readonly order: string | undefined;
  readonly onOrder: (order: string | undefined) => void;
};

/** Rows below headers. A wide table scrolls inside its card. */
export function Table<Row>({ label, columns, rows, keyOf, onOpen, openLabel, sort }: TableProps<Row>) {
  const sorted =
    sort === undefined
      ? null
      : readOrder(
          sort.order,
          columns.map(({ key }) => key),
        );
  // Rows that do not open and heads that do not sort leave nothing to focus, and what scrolls has to be reached by keys.
  const focusable =
    onOpen === undefined && sort === undefined ? { role: "group", "aria-label": label, tabIndex: 0 } : {};
  return (
    <div className="relative overflow-x-auto" {...focusable}>
      <table className="w-full border-collapse text-left">
        <caption className="sr-only">{label}</caption>
        <thead>
          <tr className="border-b border-line text-[0.8125rem] text-muted">
            {columns.map((column) => (
              <th
                key={column.key}
                scope="col"
                {...(sorted?.key === column.key ? { "aria-sort": sorted.isDown ? "descending" : "ascending" } : {})}
                className={`px-4 py-2.5 font-medium whitespace-nowrap max-sm:px-3 ${side(column)}`}
              >
                {sort === undefined || (column.value === undefined && column.isSorted !== true) ? (
                  column.head
                ) : (
                  <SortButton column={column} sort={sort} isDown={sorted?.key === column.key ? sorted.isDown : null} />
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)} className="relative border-b border-line last:border-b-0 hover:bg-sunken/60">
              {columns.map((column, index) => (
                <td key={column.key} className={`px-4 py-2.5 align-top max-sm:px-3 ${side(column)}`}>
                  {index === 0 && onOpen !== undefined ? (
                    // The button's box covers the row: a click anywhere opens it, and the row is one tab stop.
                    <button
                      type="button"
                      onClick={() => onOpen(row)}
                      className="text-left after:absolute after:inset-0"
                    >
                      {column.cell(row)}
                      {openLabel === undefined ? null : <span className="sr-only">{openLabel(row)}</span>}
                    </button>
                  ) : (
                    column.cell(row)
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

type SortButtonProps<Row> = {
  readonly column: Column<Row>;
  readonly sort: Sort;
  /** Null: the table is not in the order of this column. */
  readonly isDown: boolean | null;
};

/** The head of a column that can be sorted by. */
function SortButton<Row>({ column: { key, head, right = false }, sort, isDown }: SortButtonProps<Row>) {
  const Arrow = isDown === null ? ArrowUpDown : isDown ? ArrowDown : ArrowUp;
  return (
    <button
      type="button"
      onClick={() => sort.onOrder(nextOrder(sort.order, key, !right))}
      // The arrow of a column of numbers is in the cell's padding: the head ends where the numbers end.
      className={`inline-flex min-h-6 items-center rounded-sm hover:text-ink ${right ? "-mr-3" : ""} ${isDown === null ? "" : "text-ink"}`}
    >
      {head}
      <Arrow className={`size-3 shrink-0 ${isDown === null ? "opacity-50" : ""}`} aria-hidden />
    </button>
  );
}

type Place = { readonly right?: boolean; readonly wide?: boolean; readonly acts?: boolean };

function side({ right = false, wide = false, acts = false }: Place): string {
  return `${right ? "text-right" : ""} ${wide ? "max-md:hidden" : ""} ${acts ? "text-right max-md:sticky max-md:right-0 max-md:z-1 max-md:bg-card in-[tbody_tr:last-child]:rounded-br-xl in-[thead]:rounded-tr-xl" : ""}`;
}
