// Time zones as people name them, and moments as they are written there.

import { ValidationError } from "../../kernel/errors.ts";
import { QUARTER_MS } from "./usage-filter.ts";

/** The zone of billing days. */
export const DEFAULT_TIME_ZONE = "Asia/Jakarta";

// A name of the IANA database. Node would also take offsets, which the database reads the other way round.
const NAME = /^[A-Za-z][A-Za-z0-9_+-]*(\/[A-Za-z0-9_+-]+)*$/;

/** Stops unless a zone of this name is known. Errors: ValidationError. */
export function requireTimeZone(name: string): void {
  if (!NAME.test(name)) throw unknownTimeZone();
  try {
    Intl.DateTimeFormat("en", { timeZone: name });
  } catch (error) {
    throw unknownTimeZone({ cause: error });
  }
}

/** The message for a caller who names another zone. */
export function unknownTimeZone(options?: ErrorOptions): ValidationError {
  const message = "must be a time zone of the IANA database, such as Asia/Jakarta";
  return new ValidationError([{ field: "timeZone", rule: "time_zone", message }], options);
}

/** Makes the writer of moments in a zone: ISO 8601 with milliseconds and the offset of that moment. */
export function isoWriter(timeZone: string): (ms: number) => string {
  const clock = new Intl.DateTimeFormat("en", { timeZone, timeZoneName: "longOffset" });
  let quarter = Number.NaN;
  let offset = { minutes: 0, text: "" };
  return (ms) => {
    // Clocks change at quarters of an hour, and moments come in order: an offset is asked for once in a quarter.
    const here = Math.floor(ms / QUARTER_MS);
    if (here !== quarter) [quarter, offset] = [here, readOffset(clock, here * QUARTER_MS)];
    return new Date(ms + offset.minutes * 60_000).toISOString().slice(0, -1) + offset.text;
  };
}

function readOffset(clock: Intl.DateTimeFormat, ms: number): { minutes: number; text: string } {
  const name = clock.formatToParts(ms).find(({ type }) => type === "timeZoneName")?.value ?? "";
  const [, sign = "+", hours = "00", minutes = "00"] = /GMT([+-])(\d\d):(\d\d)/.exec(name) ?? [];
  const size = Number(hours) * 60 + Number(minutes);
  return { minutes: sign === "-" ? -size : size, text: `${sign}${hours}:${minutes}` };
}
