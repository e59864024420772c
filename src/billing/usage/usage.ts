// Usage records as they are read: newest first, page by page. They are written by the ledger's settlement and never change.

import type { Pool } from "pg";
import { NotFound } from "../../kernel/errors.ts";
import { readOrder, readOrderedPage } from "../../kernel/list-order.ts";
import { type Page, type PageRequest, readPage } from "../../kernel/paging.ts";
import { type ArchivedPart, readArchivedPart } from "../../ledger/archived-usage.ts";
import { readCredited } from "../../ledger/credit-note.ts";
import type { ReadSource } from "../../database/lagging-reads.ts";
import { readOneSnapshot } from "../../database/throttled-reader.ts";
import { requireRecordsAtHand } from "./archived-records.ts";
import { placeOfRecord, selectNewest, selectOne, selectSorted, USAGE_ORDERS } from "./store.ts";
import { selectionOf, type UsageFilter } from "./usage-filter.ts";
import type { UsageRecord } from "./usage-record.ts";

/**
 * Lists an account's usage, newest first where `orderBy` names no other order. Errors: ValidationError when the filter is wrong, the page
 * token is none, there are too many records to be sorted, or some that have to be are in the archive.
 */
export async function listUsage(
  source: ReadSource,
  {
    accountId,
    filter,
    orderBy = "",
    ...page
  }: { accountId: string; filter: UsageFilter; orderBy?: string } & PageRequest,
  mostSorted?: number,
): Promise<Page<UsageRecord>> {
  const selection = selectionOf(filter);
  const order = readOrder(orderBy, USAGE_ORDERS);
  if (order !== null) {
    return readOrderedPage(page, order, {
      read: (place, limit) =>
        readOneSnapshot(source, async (look) => {
          await requireRecordsAtHand(look, accountId, selection);
          return selectSorted(look, accountId, { ...selection, order, place, limit }, mostSorted);
        }),
      placeOf: (record) => placeOfRecord(order, record),
    });
  }
  return readPage(
    page,
    ({ beforeId, limit }) => {
      const untilId = beforeId !== null && beforeId < selection.untilId ? beforeId : selection.untilId;
      return readOneSnapshot(source, (look) => selectNewest(look, accountId, { ...selection, untilId, limit }));
    },
    ({ requestId }) => requestId,
  );
}

/**
 * Shows one record, and what was given back of it since. `ofKeys`: the keys whose records the caller may see; absent: all.
 * Errors: NotFound, also when it is another account's, or of another key.
 */
export async function getUsageRecord(
  pool: Pool,
  { accountId, requestId, ofKeys }: { accountId: string; requestId: string } & Pick<UsageFilter, "ofKeys">,
): Promise<{ record: UsageRecord; credited: bigint }> {
  const record = await readOneSnapshot(pool, async (look) => {
    const found = await selectOne(look, accountId, requestId);
    return found ?? missingRecord(await readArchivedPart(look, accountId), requestId);
  });
  if (ofKeys?.includes(record.keyId) === false) throw new NotFound("There is no such request.");
  const credited = await readCredited(pool, { accountId, requestIds: [record.requestId] });
  return { record, credited: credited.get(record.requestId) ?? 0n };
}

/** Errors: NotFound. Whether there was such a request of the account is in the archive. */
function missingRecord(archived: ArchivedPart | null, requestId: string): never {
  const mayBe = archived !== null && requestId >= archived.firstId && requestId <= archived.lastId;
  throw new NotFound(mayBe ? "Requests of this time are in the archive." : "There is no such request.");
}
