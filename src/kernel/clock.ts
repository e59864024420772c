// Time comes in as an argument, so that a test can hold it still. Decisions about money and rates use the database's clock.

/** The time now, in milliseconds of Unix time. */
export type Clock = { now(): number };

export const systemClock: Clock = { now: () => Date.now() };

// Asia/Jakarta has been UTC+7 without daylight saving time since 1964.
const JAKARTA_OFFSET_MS = 7 * 3_600_000;

/** A day of 24 hours, as every day in Jakarta is. */
export const DAY_MS = 24 * 3_600_000;
/** The last day that was asked for: nearly every request is of the same. */
let lastDay = { number: Number.NaN, text: "" };

/** The day a moment is billed on: `YYYY-MM-DD` in Asia/Jakarta. */
export function billingDay(ms: number): string {
  const number = Math.floor((ms + JAKARTA_OFFSET_MS) / DAY_MS);
  if (number !== lastDay.number) lastDay = { number, text: new Date(number * DAY_MS).toISOString().slice(0, 10) };
  return lastDay.text;
}

/** The moment a billing day begins, in milliseconds of Unix time. NaN when the text is no day. */
export function startOfBillingDay(day: string): number {
  return Date.parse(`${day}T00:00:00Z`) - JAKARTA_OFFSET_MS;
}

/**
 * The moment at which the day or month of a moment began in Asia/Jakarta, or a later one `after` periods behind it, in milliseconds
 * of Unix time.
 */
export function startOfBillingPeriod(period: "day" | "month", ms: number, after = 0): number {
  const local = new Date(ms + JAKARTA_OFFSET_MS);
  const day = period === "day" ? local.getUTCDate() + after : 1;
  const month = local.getUTCMonth() + (period === "month" ? after : 0);
  return Date.UTC(local.getUTCFullYear(), month, day) - JAKARTA_OFFSET_MS;
}

/** Whether a text is a day. The 30th of February, which would be taken for the 2nd of March, is none. */
export function isBillingDay(text: string): boolean {
  const startMs = /^\d{4}-\d\d-\d\d$/.test(text) ? startOfBillingDay(text) : Number.NaN;
  return !Number.isNaN(startMs) && billingDay(startMs) === text;
}
