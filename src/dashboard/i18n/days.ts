// Days of the billing zone. WIB has no summer time, so a day begins at 17:00 UTC of the day before, always.

/** A day as `YYYY-MM-DD`. */
export type Day = string;

/** Of this millennium: at the ends of what a date can hold, a day more or less is none. */
const DAY = /^2\d{3}-\d{2}-\d{2}$/;
const DAY_MS = 86_400_000;
const WIB_AHEAD_MS = 7 * 3_600_000;

/** Whether a text is a day that exists. */
export function isDay(text: string | undefined): text is Day {
  if (text === undefined || !DAY.test(text)) return false;
  const at = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text);
}

/** The day it is in the billing zone at a moment. */
export function dayOf(at: Date): Day {
  return new Date(at.getTime() + WIB_AHEAD_MS).toISOString().slice(0, 10);
}

/** The moment at which a day begins in the billing zone. */
export function beginOf(day: Day): Date {
  return new Date(Date.parse(`${day}T00:00:00Z`) - WIB_AHEAD_MS);
}

/** So many days later; earlier below zero. */
export function daysLater(day: Day, days: number): Day {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10);
}

/** Every day from the first to the last. At most so many, the newest. */
export function daysBetween(first: Day, last: Day, most = 400): Day[] {
  const count = Math.round((Date.parse(`${last}T00:00:00Z`) - Date.parse(`${first}T00:00:00Z`)) / DAY_MS) + 1;
  const shown = Math.max(0, Math.min(count, most));
  return Array.from({ length: shown }, (_, index) => daysLater(last, index - shown + 1));
}
