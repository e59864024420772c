// Lists, page by page. A page's token names its last item, so items that come meanwhile neither move a page nor show twice.

import { ValidationError } from "./errors.ts";
import { isUuid } from "./ids.ts";

const DEFAULT_PAGE_SIZE = 50;

/** The page that a request asks for. Size 0: 50 items. Token empty: the first page, else the `nextPageToken` of the page before. */
export type PageRequest = { readonly pageSize: number; readonly pageToken: string };

/** A page and the token of the next one; empty: this was the last. */
export type Page<Item> = { readonly items: readonly Item[]; readonly nextPageToken: string };

/** Where to read, and how much: one more than the page, which shows whether there is another. */
export type PageRange = { readonly beforeId: string | null; readonly limit: number };

/** How a list names the places of its items. */
export type Places<Item, Place> = {
  /** The place that a token names. Errors: ValidationError. */
  readonly placeOf: (pageToken: string) => Place;
  readonly tokenOf: (item: Item) => string;
};

/** What a list refuses as a page token. */
export function wrongPageToken(): ValidationError {
  return new ValidationError([{ field: "pageToken", rule: "page_token", message: "must come from the page before" }]);
}

/** Reads one page behind a place; null: from the first item. Errors: ValidationError for a wrong token; those of `read`. */
export async function readPageBehind<Item, Place>(
  { pageSize, pageToken }: PageRequest,
  { placeOf, tokenOf }: Places<Item, Place>,
  read: (place: Place | null, limit: number) => Promise<readonly Item[]>,
): Promise<Page<Item>> {
  const place = pageToken === "" ? null : placeOf(pageToken);
  const size = pageSize === 0 ? DEFAULT_PAGE_SIZE : pageSize;
  const found = await read(place, size + 1);
  const items = found.slice(0, size);
  const last = items.at(-1);
  return { items, nextPageToken: found.length > size && last !== undefined ? tokenOf(last) : "" };
}

/** The same for lists by ids that begin with their time, newest first. */
export function readPage<Item>(
  request: PageRequest,
  read: (range: PageRange) => Promise<readonly Item[]>,
  idOf: (item: Item) => string,
): Promise<Page<Item>> {
  const places = { placeOf: readId, tokenOf: idOf };
  return readPageBehind(request, places, (beforeId, limit) => read({ beforeId, limit }));
}

/** The same for lists by numbers, the highest first. */
export function readNumberedPage<Item>(
  request: PageRequest,
  read: (range: { before: number | null; limit: number }) => Promise<readonly Item[]>,
  numberOf: (item: Item) => number,
): Promise<Page<Item>> {
  const places = { placeOf: readNumber, tokenOf: (item: Item) => String(numberOf(item)) };
  return readPageBehind(request, places, (before, limit) => read({ before, limit }));
}

/** In small letters, as ids are compared here. */
function readId(pageToken: string): string {
  if (!isUuid(pageToken)) throw wrongPageToken();
  return pageToken.toLowerCase();
}

function readNumber(pageToken: string): number {
  if (!/^\d{1,9}$/.test(pageToken)) throw wrongPageToken();
  return Number(pageToken);
}
