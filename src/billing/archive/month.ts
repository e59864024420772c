// A month of usage records: a calendar month of UTC, as the partitions of the table have it.

import { ValidationError } from "../../kernel/errors.ts";
import { uuidv7Floor } from "../../kernel/ids.ts";
import { QUARTER_MS } from "../usage/usage-filter.ts";

const MONTH = /^(?<year>\d{4})-(?<month>0[1-9]|1[0-2])$/;
const FIRST_OF_MONTH = 1;

export type Month = {
  /** Such as `2025-09`. */
  readonly name: string;
  readonly fromMs: number;
  readonly untilMs: number;
  /** The least id of the month, and the least one behind it. */
  readonly fromId: string;
  readonly untilId: string;
  /** The same in quarters of an hour. */
  readonly fromQuarter: number;
  readonly untilQuarter: number;
  /** The table of its records. */
  readonly table: string;
};

/** Reads a month such as `2025-09`. Errors: ValidationError. */
export function monthOf(name: string, field = "month"): Month {
  const { year, month } = MONTH.exec(name)?.groups ?? {};
  if (year === undefined || month === undefined || Number(year) < 1971)
    throw new ValidationError([{ field, rule: "archive.month", message: "must be a month such as 2025-09" }]);
  const fromMs = Date.UTC(Number(year), Number(month) - 1, FIRST_OF_MONTH);
  const untilMs = Date.UTC(Number(year), Number(month), FIRST_OF_MONTH);
  return {
    name,
    fromMs,
    untilMs,
    fromId: uuidv7Floor(fromMs),
    untilId: uuidv7Floor(untilMs),
    fromQuarter: fromMs / QUARTER_MS,
    untilQuarter: untilMs / QUARTER_MS,
    table: `usage_record_${year}_${month}`,
  };
}

/** The month behind. */
export function monthAfter({ untilMs }: Month): Month {
  return monthOf(new Date(untilMs).toISOString().slice(0, "2025-09".length));
}
