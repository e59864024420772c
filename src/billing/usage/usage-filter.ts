// Which usage records are meant. Everything that shows usage goes by one filter and one reading of it: the list, its sums and
// the file show the same records.

import { type FieldProblem, ValidationError } from "../../kernel/errors.ts";
import { isUuid, uuidv7Floor } from "../../kernel/ids.ts";
import type { UsageBasis } from "../../ledger/ledger.ts";

/** Which records are meant; all that is set must fit. Times are milliseconds of Unix time: from the first, before the second. */
export type UsageFilter = {
  readonly fromMs?: number;
  readonly untilMs?: number;
  readonly model?: string;
  readonly keyId?: string;
  /** Only records of these keys, as the caller may see no others. Absent: all keys. */
  readonly ofKeys?: readonly string[];
  /** Empty: all. */
  readonly bases?: readonly UsageBasis[];
  /** Only requests that failed, charged or not. */
  readonly failed?: boolean;
};

/** A filter as statements take it. Request ids begin with their time, so a range of time is a range of the primary key. */
export type UsageSelection = {
  /** From this id, to before that one. */
  readonly fromId: string;
  readonly untilId: string;
  /** The same in whole quarters of an hour: those that lie in the range with all their records. */
  readonly fromQuarter: number;
  readonly untilQuarter: number;
  readonly model: string | null;
  /** Null: all keys. */
  readonly keyIds: readonly string[] | null;
  readonly bases: readonly UsageBasis[] | null;
  readonly failed: boolean;
};

/** Usage is summed by quarters of an hour of UTC, because every time zone's days begin at one. */
export const QUARTER_MS = 900_000;
const BEHIND_ALL_IDS = "ffffffff-ffff-ffff-ffff-ffffffffffff";
/** Behind every quarter that an int of the database counts. */
const BEHIND_ALL_QUARTERS = 2_147_483_647;
/** The times that an id can begin with. */
const MAX_TIME_MS = 2 ** 48 - 1;

/** Reads a filter. Errors: ValidationError when the range is turned round or the key's id is none. */
export function selectionOf(filter: UsageFilter): UsageSelection {
  const problems: FieldProblem[] = [];
  const { fromMs = 0, untilMs, keyId, ofKeys } = filter;
  if (untilMs !== undefined && fromMs > untilMs) {
    problems.push({ field: "filter.from", rule: "usage_filter.range", message: "must not be later than filter.until" });
  }
  if (keyId !== undefined && !isUuid(keyId)) {
    problems.push({ field: "filter.keyId", rule: "string.uuid", message: "must be a UUID" });
  }
  if (problems.length > 0) throw new ValidationError(problems);
  const [from, until] = [within(fromMs), untilMs === undefined ? null : within(untilMs)];
  return {
    fromId: uuidv7Floor(from),
    untilId: until === null ? BEHIND_ALL_IDS : uuidv7Floor(until),
    fromQuarter: Math.ceil(from / QUARTER_MS),
    untilQuarter: until === null ? BEHIND_ALL_QUARTERS : Math.floor(until / QUARTER_MS),
    model: filter.model ?? null,
    keyIds: keyId === undefined ? (ofKeys ?? null) : ofKeys === undefined ? [keyId] : ofKeys.filter(isKey(keyId)),
    bases: filter.bases === undefined || filter.bases.length === 0 ? null : filter.bases,
    failed: filter.failed ?? false,
  };
}

/** Ids are the same in capitals. */
function isKey(keyId: string): (each: string) => boolean {
  return (each) => each === keyId.toLowerCase();
}

function within(ms: number): number {
  // Ids count whole milliseconds: what comes at or after a part of one comes at or after the next.
  return Math.min(Math.max(Math.ceil(ms), 0), MAX_TIME_MS);
}
