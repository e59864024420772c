// Usage records as they are read: newest first, page by page. They are written by the ledger's settlement and never change.

import type { Pool } from "pg";
import { NotFound } from "../../kernel/errors.ts";
import { wrongPageToken } from "../../kernel/page-token.ts";
import { isUuid } from "../../kernel/ids.ts";
import { readCredited } from "../../ledger/credit-note.ts";
import { readOneSnapshot } from "../../database/throttled-reader.ts";
import { selectNewest, selectOne } from "./store.ts";
import { selectionOf, type UsageFilter } from "./usage-filter.ts";
import type { UsageRecord } from "./usage-record.ts";

export type UsagePage = { readonly records: readonly UsageRecord[]; readonly nextPageToken: string };

/**
 * Lists an account's usage, newest first. A page token is the id of the last record shown, so records that come meanwhile
 * neither move a page nor show twice. Errors: ValidationError when the filter is wrong or the page token is none.
 */
export async function listUsage(
  pool: Pool,
  query: { accountId: string; filter: UsageFilter; pageSize: number; pageToken: string },
): Promise<UsagePage> {
  const { accountId, filter, pageSize, pageToken } = query;
  const selection = selectionOf(filter);
  const shown = readPageToken(pageToken);
  const untilId = shown !== null && shown < selection.untilId ? shown : selection.untilId;
  const records = await readOneSnapshot(pool, (look) =>
    selectNewest(look, accountId, { ...selection, untilId, limit: pageSize + 1 }),
  );
  const page = records.slice(0, pageSize);
  return { records: page, nextPageToken: records.length > pageSize ? (page.at(-1)?.requestId ?? "") : "" };
}

/** Shows one record, and what was given back of it since. Errors: NotFound, also when it is another account's. */
export async function getUsageRecord(
  pool: Pool,
  { accountId, requestId }: { accountId: string; requestId: string },
): Promise<{ record: UsageRecord; credited: bigint }> {
  const record = await readOneSnapshot(pool, (look) => selectOne(look, accountId, requestId));
  if (record === null) throw new NotFound("There is no such request.");
  const credited = await readCredited(pool, { accountId, requestIds: [record.requestId] });
  return { record, credited: credited.get(record.requestId) ?? 0n };
}

/** The id that a page token names; null for the first page. Errors: ValidationError. */
export function readPageToken(pageToken: string): string | null {
  if (pageToken === "") return null;
  // In small letters, as ids are compared here.
  if (isUuid(pageToken)) return pageToken.toLowerCase();
  throw wrongPageToken();
}
