// Lists by ids that begin with their time, newest first: a page's token is the id of its last item.

import { wrongPageToken } from "../../kernel/page-token.ts";
import { isUuid } from "../../kernel/ids.ts";

const DEFAULT_PAGE_SIZE = 50;

/** The page that a request asks for. */
export type PageRequest = { readonly pageSize: number; readonly pageToken: string };

/** A page and what asks for the next one; empty: this was the last. */
export type Page<Item> = { readonly items: readonly Item[]; readonly nextPageToken: string };

/** Where to read, and how much: one more than the page, which shows whether there is another. */
export type PageRange = { readonly beforeId: string | null; readonly limit: number };

/** Reads one page. Errors: ValidationError for a token that is not valid; those of `read`. */
export async function readPage<Item>(
  { pageSize, pageToken }: PageRequest,
  read: (range: PageRange) => Promise<readonly Item[]>,
  idOf: (item: Item) => string,
): Promise<Page<Item>> {
  if (pageToken !== "" && !isUuid(pageToken)) throw wrongPageToken();
  const size = pageSize === 0 ? DEFAULT_PAGE_SIZE : pageSize;
  const found = await read({ beforeId: pageToken === "" ? null : pageToken.toLowerCase(), limit: size + 1 });
  const items = found.slice(0, size);
  const last = items.at(-1);
  return { items, nextPageToken: found.length > size && last !== undefined ? idOf(last) : "" };
}

/** The same for lists by numbers, the highest first. */
export function readNumberedPage<Item>(
  { pageSize, pageToken }: PageRequest,
  read: (range: { before: number | null; limit: number }) => Promise<readonly Item[]>,
  numberOf: (item: Item) => number,
): Promise<Page<Item>> {
  if (!/^\d{0,9}$/.test(pageToken)) throw wrongPageToken();
  const before = pageToken === "" ? null : Number(pageToken);
  return readPage(
    { pageSize, pageToken: "" },
    ({ limit }) => read({ before, limit }),
    (item) => String(numberOf(item)),
  );
}
