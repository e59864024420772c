// The statements of a TOML text: headers of tables and lines `key = value`, each with the keys above it. A value may
// go over lines; a bracket or quote inside a string or comment means nothing.

import { parse } from "smol-toml";
import { isList, isMap, type Value } from "./edits.ts";

export type Statement = {
  /** All keys from the root, those of the table's header first. */
  readonly path: readonly string[];
  /** Whether it is a header. */
  readonly isTable: boolean;
  readonly start: number;
  /** Behind its line feed. */
  readonly end: number;
};

// Strings over lines first: their quotes are also those of an empty string. A string without an end goes to the end of its
// line or text, so that it is read once: a text that parses has none.
const PIECE =
  /"""(?:\\[\s\S]|(?!""")[\s\S])*(?:"{3,5}|$)|'''(?:(?!''')[\s\S])*(?:'{3,5}|$)|"(?:\\.|[^"\\\n])*"?|'[^'\n]*'?|#[^\n]*|[[\]{}\n]|[^"'#[\]{}\n]+/g;

/** The statements of a text that parses. */
export function statementsOf(text: string): Statement[] {
  const statements: Statement[] = [];
  let table: readonly string[] = [];
  for (const { start, end } of logicalLines(text)) {
    const line = text.slice(start, end).trim();
    if (line === "" || line.startsWith("#")) continue;
    const isTable = line.startsWith("[");
    if (isTable) table = keysOf(line);
    statements.push({ path: isTable ? table : [...table, ...keysOf(line)], isTable, start, end });
  }
  return statements;
}

function logicalLines(text: string): { start: number; end: number }[] {
  const lines: { start: number; end: number }[] = [];
  let start = 0;
  let depth = 0;
  for (const { 0: piece, index } of text.matchAll(PIECE)) {
    if (piece === "[" || piece === "{") depth += 1;
    if (piece === "]" || piece === "}") depth -= 1;
    if (piece !== "\n" || depth > 0) continue;
    lines.push({ start, end: index + 1 });
    start = index + 1;
  }
  if (start < text.length) lines.push({ start, end: text.length });
  return lines;
}

/** The comment at the end of a statement, with the blanks in front of it. */
export function commentOf(statement: string): string {
  let end = 0;
  for (const { 0: piece, index } of statement.matchAll(PIECE)) {
    if (piece.startsWith("#")) return statement.slice(end, index) + piece;
    end = index + piece.trimEnd().length;
  }
  return "";
}

/** The keys that a line names, by letting the parser read a line that has no value. */
function keysOf(line: string): readonly string[] {
  const alone = line.startsWith("[") ? line : `${/^(?:"(?:\\.|[^"\\])*"|'[^']*'|[^="'])+/.exec(line)?.[0] ?? ""}= 0`;
  const keys: string[] = [];
  let value = parse(alone) as Value | undefined;
  while (value !== undefined) {
    if (isList(value)) value = value[0];
    const key: string | undefined = isMap(value) ? Object.keys(value)[0] : undefined;
    if (key === undefined || !isMap(value)) break;
    keys.push(key);
    value = value[key];
  }
  return keys;
}
