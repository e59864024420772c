// TOML. A text is seen as statements, each of which is kept or replaced whole; smol-toml parses what they mean.

import { parse } from "smol-toml";
import { type Edit, isList, isMap, type Path, UneditableFile, type Value, type ValueMap } from "./edits.ts";
import { type Format, quoted } from "./format.ts";
import { commentOf, statementsOf, type Statement } from "./toml-statements.ts";

/** TOML 1.0. */
export const toml: Format = {
  name: "TOML",
  read: (text) => parse(text) as Value,
  edit(text, change) {
    if (change.kind === "insert") throw new UneditableFile("has a list that cannot be edited safely");
    const cut = dropStatements(text, change.path);
    return change.kind === "remove" ? cut.text : set(cut, change);
  },
  write: (value) => Object.entries(value).reduce((text, [key, item]) => append(text, [key], item), ""),
};

type Cut = { readonly text: string; readonly at: number | null; readonly comment?: string };

/** Takes out every statement at or below a path, and returns where the first of them was. */
function dropStatements(text: string, path: Path): Cut {
  const isBelow = ({ path: full }: Statement): boolean => path.every((step, index) => full[index] === step);
  const dropped = statementsOf(text).filter(isBelow);
  const [first] = dropped;
  if (first === undefined) return { text, at: null };
  // A table of ours behind a blank line takes that line with it.
  const from = first.isTable && text.slice(0, first.start).endsWith("\n\n") ? first.start - 1 : first.start;
  const kept = dropped.toReversed().reduce((left, { start, end }) => left.slice(0, start) + left.slice(end), text);
  const comment = dropped.length === 1 ? commentOf(text.slice(first.start, first.end)) : "";
  return { text: kept.slice(0, from) + kept.slice(first.start), at: from, comment };
}

function set({ text, at, comment = "" }: Cut, { path, value }: Extract<Edit, { kind: "set" }>): string {
  if (isMap(value)) return at === null ? append(text, path, value) : place(text, { at, written: table(path, value) });
  if (path.length > 1) {
    throw new UneditableFile("has a table that cannot be edited safely");
  }
  const written = `${keyText(path)} = ${inline(value)}${comment}\n`;
  if (at !== null) return text.slice(0, at) + written + text.slice(at);
  // In front of the first table: a statement behind a table's header belongs to that table.
  const statements = statementsOf(text);
  const firstTable = statements.findIndex(({ isTable }) => isTable);
  const last = (firstTable === -1 ? statements : statements.slice(0, firstTable)).at(-1);
  if (last === undefined) {
    const gap = text.trim() === "" || text.startsWith("\n") ? "" : "\n";
    return written + gap + text;
  }
  const head = withLineEnd(text.slice(0, last.end));
  return head + written + text.slice(last.end);
}

function append(text: string, path: Path, value: Value): string {
  if (!isMap(value)) return set({ text, at: null }, { kind: "set", path, value });
  const tables = Object.entries(value).filter(([, item]) => isMap(item));
  // A map of maps has no header of its own.
  if (tables.length > 0 && tables.length === Object.keys(value).length) {
    return tables.reduce((longer, [key, item]) => append(longer, [...path, key], item), text);
  }
  return place(text, { at: text.length, written: table(path, value) });
}

function place(text: string, { at, written }: { at: number; written: string }): string {
  const head = withLineEnd(text.slice(0, at));
  const tail = text.slice(at);
  const gap = head === "" || head.endsWith("\n\n") ? "" : "\n";
  return head + gap + written + (tail === "" || tail.startsWith("\n") ? "" : "\n") + tail;
}

function table(path: Path, value: ValueMap): string {
  const lines = Object.entries(value).map(([key, item]) => `${keyText([key])} = ${inline(item)}`);
  return `[${keyText(path)}]\n${lines.join("\n")}\n`;
}

function inline(value: Value): string {
  if (value === null) throw new UneditableFile("has no value for nothing");
  if (typeof value === "string") return quoted(value);
  if (isList(value)) return `[${value.map(inline).join(", ")}]`;
  if (!isMap(value)) return String(value);
  return `{ ${Object.entries(value)
    .map(([key, item]) => `${keyText([key])} = ${inline(item)}`)
    .join(", ")} }`;
}

function keyText(path: Path): string {
  return path.map((step) => (/^[\w-]+$/.test(String(step)) ? step : quoted(String(step)))).join(".");
}

function withLineEnd(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}
