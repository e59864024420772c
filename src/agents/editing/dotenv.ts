// Files of variables (.env), a variable a line. Node's dotenv and the agents that use it pass over lines that they do not
// understand; here such a line is a reason to leave the file alone.

import { type Path, UneditableFile, type Value, type ValueMap, wrongShape } from "./edits.ts";
import type { Format } from "./format.ts";

/** Variables by name; every value is a text. */
export const dotenv: Format = {
  name: "a list of variables",
  read: (text) => Object.fromEntries(linesOf(text).map(({ name, value }) => [name, unquoted(value)])),
  edit(text, change) {
    const name = nameAt(change.path);
    if (change.kind === "insert") throw wrongShape(change.path, "a list");
    const lines = linesOf(text).filter((line) => line.name === name);
    if (change.kind === "remove") return lines.reduceRight(withoutLine, text);
    // Of two lines with one name the last counts.
    const last = lines.at(-1);
    if (last !== undefined) {
      const quotes = /^['"]/.exec(last.value)?.[0];
      return text.slice(0, last.from) + valueText(change.value, quotes) + text.slice(last.from + last.value.length);
    }
    const line = `${name}=${valueText(change.value)}`;
    return text === "" || text.endsWith("\n") ? `${text}${line}\n` : `${text}\n${line}`;
  },
  write: (value: ValueMap) =>
    Object.entries(value)
      .map(([name, item]) => `${name}=${valueText(item)}\n`)
      .join(""),
};

type Line = {
  readonly name: string;
  readonly value: string;
  /** The place of the value. */
  readonly from: number;
  readonly start: number;
  readonly end: number;
};

const NOTHING = /[ \t]*(?:#[^\n]*)?(?:\n|$)/y;
const FRONT = /[ \t]*(?:export[ \t]+)?([\w.-]+)(?:[ \t]*=|:[ \t]+)[ \t]*/y;
/** In quotes, over several lines perhaps, or up to a comment. Blanks behind one without quotes are no part of it. */
const VALUE = /(?:'[^']*'|"(?:\\.|[^"\\])*"|`[^`]*`|(?!['"`])[^\n#]*)(?=[ \t]*(?:#[^\n]*)?(?:\n|$))/y;
const BARE = /^[\w.~+/:=@%,[\]-]*$/;

function linesOf(text: string): Line[] {
  const lines: Line[] = [];
  for (let at = 0; at < text.length;) {
    const blank = matchAt(NOTHING, text, at);
    if (blank !== null) {
      at += Math.max(1, blank[0].length);
      continue;
    }
    const front = matchAt(FRONT, text, at);
    const from = at + (front?.[0].length ?? 0);
    const found = front === null ? null : matchAt(VALUE, text, from);
    if (front === null || found === null) throw new UneditableFile("has a line that is no variable");
    const value = withoutBlanksBehind(found[0]);
    const behind = from + value.length;
    const end = behind + (matchAt(NOTHING, text, behind)?.[0].length ?? 0);
    lines.push({ name: front[1] ?? "", value, from, start: at, end });
    at = end;
  }
  return lines;
}

/** Not by an expression: one that looks for blanks at the end tries each run of them. */
function withoutBlanksBehind(text: string): string {
  let end = text.length;
  while (text[end - 1] === " " || text[end - 1] === "\t") end -= 1;
  return text.slice(0, end);
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

/** Without a line; a last one that has no line end takes the one in front of it. */
function withoutLine(text: string, { start, end }: Line): string {
  const from = text[end - 1] === "\n" ? start : Math.max(0, start - 1);
  return text.slice(0, from) + text.slice(end);
}

function unquoted(value: string): string {
  const quote = value[0];
  if (value.length < 2 || quote === undefined || !`'"\``.includes(quote)) return value;
  const inside = value.slice(1, -1);
  return quote === '"' ? inside.replaceAll(String.raw`\n`, "\n").replaceAll(String.raw`\r`, "\r") : inside;
}

/** A value, in the quotes that were there where it can be. */
function valueText(value: Value, quotes = ""): string {
  if (typeof value === "string" && BARE.test(value)) return quotes + value + quotes;
  if (typeof value === "string" && !/['\n\r]/.test(value)) return `'${value}'`;
  throw new UneditableFile("has no place for such a value");
}

function nameAt(path: Path): string {
  const [name] = path;
  if (path.length !== 1 || typeof name !== "string") throw wrongShape(path.slice(0, 1), "a map");
  return name;
}
