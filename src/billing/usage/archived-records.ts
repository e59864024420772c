// What readers of usage answer about months whose records are in the archive. Sums are exact, from roll-ups; single records are not at
// hand, and a reader that needs them refuses instead of leaving them out.

import type { Look } from "../../database/throttled-reader.ts";
import { ValidationError } from "../../kernel/errors.ts";
import { uuidv7Floor } from "../../kernel/ids.ts";
import { type ArchivedPart, readArchivedPart } from "../../ledger/archived-usage.ts";
import { QUARTER_MS, type UsageSelection } from "./usage-filter.ts";

/** Refuses a selection of single records that reaches into the archive. Errors: ValidationError. */
export async function requireRecordsAtHand(look: Look, accountId: string, selection: UsageSelection): Promise<void> {
  const archived = await archivedPartOf(look, accountId, selection);
  if (archived !== null) throw inArchive(archived, "single requests of before then are in the archive");
}

/** Refuses sums that need single records of the archive: of failures, and of a part of a quarter of an hour. Errors: ValidationError. */
export async function requireWholeQuarters(look: Look, accountId: string, selection: UsageSelection): Promise<void> {
  const archived = await archivedPartOf(look, accountId, selection);
  if (archived === null) return;
  const { fromId, untilId, fromQuarter, untilQuarter, failed } = selection;
  const cutsFrom = uuidv7Floor(fromQuarter * QUARTER_MS) !== fromId;
  const cutsUntil = untilId < archived.beforeId && uuidv7Floor(untilQuarter * QUARTER_MS) !== untilId;
  if (failed) throw inArchive(archived, "failures of before then are in the archive");
  if (cutsFrom || cutsUntil) throw inArchive(archived, "before then sums are of whole quarters of an hour");
}

/** What of a selection's records is in the archive. Null: nothing. */
async function archivedPartOf(look: Look, accountId: string, selection: UsageSelection): Promise<ArchivedPart | null> {
  const archived = await readArchivedPart(look, accountId);
  if (archived === null || selection.fromId > archived.lastId || selection.untilId <= archived.firstId) return null;
  return archived;
}

function inArchive({ beforeMs }: ArchivedPart, why: string): ValidationError {
  const message = `must not be before ${new Date(beforeMs).toISOString()}: ${why}`;
  return new ValidationError([{ field: "filter.from", rule: "usage_filter.archived", message }]);
}
