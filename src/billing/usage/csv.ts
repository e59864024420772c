// RFC 4180: a line per record, fields between commas, ended by CR LF, in quotes where they need it.

/** A field: a text of any origin, or a number that we have written ourselves. */
export type CsvField = string | number | boolean | bigint;

// A spreadsheet runs what begins like this, also behind spaces and in full width. An apostrophe makes it a text.
const FORMULA = /^[\s\u00a0\ufeff]*[=+\-@\uff1d\uff0b\uff0d\uff20|%]|^[\t\r\n]/u;
const NEEDS_QUOTES = /[",\r\n\t]|^\s|\s$/;

/** A number in plain digits, which begins with a minus where it is below zero and is no formula. */
const NUMBER = /^-?\d+(\.\d+)?$/;

/** One line of a file. */
export function csvLine(fields: readonly CsvField[]): string {
  return `${fields.map(writeField).join(",")}\r\n`;
}

function writeField(field: CsvField): string {
  const text = String(field);
  const guarded = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return NEEDS_QUOTES.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded;
}
