// Days in the billing zone. WIB has no summer time, so a day always begins at 17:00 UTC of the day before.

/** A day as `YYYY-MM-DD`. */
export type Day = string;

/** Only of this millennium: at the limits of Date, adding a day gives an invalid date. */
const DAY = /^2\d{3}-\d{2}-\d{2}$/;
const DAY_MS = 86_400_000;
const WIB_AHEAD_MS = 7 * 3_600_000;

/** Whether a text is a day that exists. */
export function isDay(text: string | undefined): text is Day {
  if (text === undefined || !DAY.test(text)) return false;
  const at = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text);
}

/** The day in the billing zone at a moment. */
export function dayOf(at: Date): Day {
  return new Date(at.getTime() + WIB_AHEAD_MS).toISOString().slice(0, 10);
}

/** The moment at which a day begins in the billing zone. */
export function beginOf(day: Day): Date {
  return new Date(Date.parse(`${day}T00:00:00Z`) - WIB_AHEAD_MS);
}

/** The day so many days later; earlier for a negative number. */
export function daysLater(day: Day, days: number): Day {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10);
}

/** Every day from the first to the last; at most so many, the newest. */
export function daysBetween(first: Day, last: Day, most = 400): Day[] {
  const count = Math.round((Date.parse(`${last}T00:00:00Z`) - Date.parse(`${first}T00:00:00Z`)) / DAY_MS) + 1;
  const shown = Math.max(0, Math.min(count, most));
  return Array.from({ length: shown }, (_, index) => daysLater(last, index - shown + 1));
}
