// Lists in another order than newest first. What is sorted is bounded: a list that is too long for it is refused, and its filter has
// to be narrowed. A page's token names its order and its last item by value and id, so pages neither overlap nor leave a gap.

import { ValidationError } from "./errors.ts";
import { isUuid } from "./ids.ts";
import { type Page, type PageRequest, readPageBehind, wrongPageToken } from "./paging.ts";

/** At most so many items are sorted by a value that no index has. */
export const MOST_SORTED = 100_000;

/** A column, from the least on or from the most on. */
export type ListOrder<Column extends string> = { readonly column: Column; readonly isDown: boolean };

/** Where a page ends: the item's value in the order, and its id. */
export type OrderedPlace = { readonly value: bigint; readonly id: string };

/** Reads `cost` or `-cost`. Null: newest first. The contract lets no other column through. */
export function readOrder<Column extends string>(
  orderBy: string,
  columns: readonly Column[],
): ListOrder<Column> | null {
  const isDown = orderBy.startsWith("-");
  const column = columns.find((name) => name === orderBy.slice(isDown ? 1 : 0));
  return column === undefined || orderBy === "-time" ? null : { column, isDown };
}

/** Reads one page of a list in an order. Errors: ValidationError for a wrong token; those of `read`. */
export function readOrderedPage<Item>(
  request: PageRequest,
  order: ListOrder<string>,
  {
    read,
    placeOf,
  }: {
    readonly read: (place: OrderedPlace | null, limit: number) => Promise<readonly Item[]>;
    readonly placeOf: (item: Item) => OrderedPlace;
  },
): Promise<Page<Item>> {
  const name = `${order.isDown ? "-" : ""}${order.column}`;
  const tokenOf = (item: Item): string => {
    const { value, id } = placeOf(item);
    return `${name}:${value}:${id}`;
  };
  return readPageBehind(request, { placeOf: (token) => readPlace(token, name), tokenOf }, read);
}

/** A token of another order is none of this one. */
function readPlace(token: string, name: string): OrderedPlace {
  const [ofOrder, value = "", id = "", ...more] = token.split(":");
  if (ofOrder !== name || !/^-?\d{1,18}$/.test(value) || !isUuid(id) || more.length > 0) throw wrongPageToken();
  return { value: BigInt(value), id: id.toLowerCase() };
}

/** Errors: ValidationError when a list is too long to be sorted. */
export function requireSortable(found: number, most = MOST_SORTED): void {
  if (found <= most) return;
  const message = `sorts at most ${MOST_SORTED} rows; narrow the filter`;
  throw new ValidationError([{ field: "orderBy", rule: "order_by.too_many", message }]);
}
