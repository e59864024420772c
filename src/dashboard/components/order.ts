// The order of a table. It is in the address: `cost` from the least on, `-cost` from the most on. Rows that are all on the page are
// sorted here; a list of pages is sorted by the server, over all of them.

/** What a column is sorted by. Undefined: the row has no value, and is last either way. */
export type SortValue = string | number | bigint | undefined;

export type SortColumn<Row> = { readonly key: string; readonly value?: (row: Row) => SortValue };

/** The column and direction of an address. Null: the rows keep the order that they came in. */
export function readOrder(
  order: string | undefined,
  keys: readonly string[],
): { readonly key: string; readonly isDown: boolean } | null {
  const isDown = order?.startsWith("-") === true;
  const key = isDown ? order?.slice(1) : order;
  return key !== undefined && keys.includes(key) ? { key, isDown } : null;
}

/** The order of an address as the server takes it. Empty: it names no column that the server sorts by. */
export function orderBy(
  order: string | undefined,
  columns: readonly { readonly key: string; readonly isSorted?: boolean }[],
): string {
  const keys = columns.filter(({ isSorted }) => isSorted === true).map(({ key }) => key);
  return order !== undefined && readOrder(order, keys) !== null ? order : "";
}

/** The order after a press on a column: numbers begin with the most, texts with the first; the third press ends it. */
export function nextOrder(order: string | undefined, key: string, isText: boolean): string | undefined {
  const [first, second] = isText ? [key, `-${key}`] : [`-${key}`, key];
  if (order === first) return second;
  return order === second ? undefined : first;
}

/** The rows in the order of the address. Rows that are equal in it stay as they came. */
export function inOrder<Row>(
  rows: readonly Row[],
  columns: readonly SortColumn<Row>[],
  order: string | undefined,
): readonly Row[] {
  const sortable = columns.filter(({ value }) => value !== undefined);
  const found = readOrder(
    order,
    sortable.map(({ key }) => key),
  );
  const value = sortable.find(({ key }) => key === found?.key)?.value;
  if (found === null || value === undefined) return rows;
  const sign = found.isDown ? -1 : 1;
  return rows.toSorted((one, other) => {
    const [a, b] = [value(one), value(other)];
    if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
    return sign * compare(a, b);
  });
}

function compare(a: NonNullable<SortValue>, b: NonNullable<SortValue>): number {
  if (typeof a === "string" && typeof b === "string") return a.localeCompare(b, undefined, { numeric: true });
  return a < b ? -1 : a > b ? 1 : 0;
}
