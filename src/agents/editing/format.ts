// A syntax, as the rest of the room sees it, and the one way to edit a text: the result is parsed again and must
// equal the edits exactly, or nothing is written. A wrong splice ends here, not in a user's file.

import { type Edit, isMap, isSame, UneditableFile, type Value, type ValueMap, withEdit } from "./edits.ts";

/** A syntax of configuration files. Texts have no byte-order mark and end their lines with a line feed. One that holds
 * nothing but comments is read as null or an empty map, and can be edited. */
export type Format = {
  readonly name: string;
  /** Whether agents read it without a byte-order mark only. */
  readonly isPlain?: true;
  /** Reads a text. Errors: those of its parser. */
  read(text: string): Value;
  /** The text with one edit made; everything else in it stays as it is. */
  edit(text: string, edit: Edit): string;
  /** The text of a file that does not exist yet. */
  write(value: ValueMap): string;
};

/** The map that a text holds; an empty text is an empty map. Errors: UneditableFile. */
export function readMap(format: Format, text: string): ValueMap {
  if (text.trim() === "") return {};
  let value: Value;
  try {
    value = format.read(text);
  } catch {
    // The parser's own words may quote the line, which may hold a key.
    throw new UneditableFile(`is not readable as ${format.name}`);
  }
  if (value === null) return {};
  if (!isMap(value)) throw new UneditableFile(`is not a ${format.name} file with settings by name at its root`);
  return value;
}

/** The text with the edits made, in their order. Errors: UneditableFile, and the text is to stay. */
export function editText(format: Format, text: string, edits: readonly Edit[]): string {
  let edited = text;
  let expected: Value = readMap(format, text);
  for (const edit of edits) {
    expected = withEdit(expected, edit);
    edited = edited.trim() === "" && isMap(expected) ? format.write(expected) : format.edit(edited, edit);
  }
  let found: ValueMap;
  try {
    found = readMap(format, edited);
  } catch (error) {
    throw new UneditableFile("is written in a way that cannot be edited safely", { cause: error });
  }
  if (!isSame(withoutEmptyMaps(found), withoutEmptyMaps(expected)))
    throw new UneditableFile("is written in a way that cannot be edited safely");
  return edited;
}

/** A map without entries has no meaning, and TOML has no place for it once its last table is gone. */
function withoutEmptyMaps(value: Value): Value {
  if (!isMap(value)) return value;
  const entries = Object.entries(value).map(([key, item]) => [key, withoutEmptyMaps(item)] as const);
  return Object.fromEntries(entries.filter(([, item]) => !isMap(item) || Object.keys(item).length > 0));
}

/** JSON text that is valid in JSON, YAML and TOML strings alike, and shows no control character to a terminal. */
export function quoted(value: string): string {
  return JSON.stringify(value).replaceAll(
    /[\u007f-\u009f\u2028\u2029\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
