// YAML, as far as an agent of ours needs it: settings at the root, and lists of entries. Texts are spliced at the places
// the parser reports; writing a document again would move its comments.

import { isMap as isYamlMap, isSeq, parseDocument, stringify, type Pair, type Document, type YAMLSeq } from "yaml";
import { type Edit, type Path, UneditableFile, type Value } from "./edits.ts";
import { type Format, quoted } from "./format.ts";
import { oneLine } from "./json.ts";

/** YAML 1.2. */
export const yaml: Format = {
  name: "YAML",
  read: (text) => documentOf(text).toJS() as Value,
  edit(text, change) {
    const document = documentOf(text);
    if (change.kind === "insert") return insertItem(text, listAt(document, change.path), change);
    const [key, index] = change.path;
    if (typeof key === "string" && change.path.length === 1) return setOrRemoveKey(text, document, change);
    if (change.kind === "remove" && typeof index === "number" && change.path.length === 2) {
      return removeItem(text, listAt(document, change.path.slice(0, 1)), index);
    }
    throw new UneditableFile("has an entry that cannot be edited safely");
  },
  write: (value) =>
    Object.entries(value)
      .map(([key, item]) => block({ [key]: item }))
      .join(""),
};

function documentOf(text: string): Document.Parsed {
  // The places of its errors are not read, and finding them is quadratic in a long line.
  const document = parseDocument(text, { prettyErrors: false });
  if (document.errors.length > 0) throw new UneditableFile("is not readable as YAML");
  return document;
}

function listAt(document: Document.Parsed, path: Path): YAMLSeq {
  const list = document.getIn(path);
  if (!isSeq(list)) throw new UneditableFile(`has something else than a list at ${path.join(".")}`);
  return list;
}

function setOrRemoveKey(text: string, document: Document.Parsed, change: Exclude<Edit, { kind: "insert" }>): string {
  const key = String(change.path[0]);
  const written = change.kind === "set" ? block({ [key]: change.value }) : "";
  const root = document.contents;
  if (root !== null && (!isYamlMap(root) || root.flow === true)) {
    throw new UneditableFile("is written in a way that cannot be edited safely");
  }
  const pair = root?.items.find((each: Pair) => String(each.key) === key);
  if (pair === undefined) {
    const end = root === null ? text.length : lineEnd(text, contentEnd(text, rangeOf(root)));
    const head = text.slice(0, end);
    return (head === "" || head.endsWith("\n") ? head : `${head}\n`) + written + text.slice(end);
  }
  const start = rangeOf(pair.key)[0];
  const from = pair.value === null ? rangeOf(pair.key) : rangeOf(pair.value);
  return text.slice(0, start) + written + text.slice(lineEnd(text, contentEnd(text, from)));
}

function insertItem(text: string, list: YAMLSeq, { index, value }: { index: number; value: Value }): string {
  const next = list.items[index];
  if (list.flow === true) {
    if (list.items.length === 0) {
      const [start] = rangeOf(list);
      return `${text.slice(0, start + 1)}${oneLine(value)}${text.slice(start + 1)}`;
    }
    if (next === undefined) throw new UneditableFile("has a list that cannot be edited safely");
    const [at] = rangeOf(next);
    return `${text.slice(0, at)}${oneLine(value)}, ${text.slice(at)}`;
  }
  const { start, dash } = lineOfItem(text, list, next === undefined ? list.items.length - 1 : index);
  const indent = text.slice(start, dash);
  const written = block([value]).replaceAll(/^(?=.)/gm, indent);
  const at = next === undefined ? lineEnd(text, contentEnd(text, rangeOf(list))) : start;
  const head = text.slice(0, at);
  return (head.endsWith("\n") ? head : `${head}\n`) + written + text.slice(at);
}

function removeItem(text: string, list: YAMLSeq, index: number): string {
  const item = list.items[index];
  const range = rangeOf(item);
  if (list.flow === true) {
    const next = list.items[index + 1];
    const previous = list.items[index - 1];
    if (next !== undefined) return text.slice(0, range[0]) + text.slice(rangeOf(next)[0]);
    return text.slice(0, previous === undefined ? range[0] : rangeOf(previous)[1]) + text.slice(range[1]);
  }
  const { start } = lineOfItem(text, list, index);
  const end = lineEnd(text, contentEnd(text, range));
  // A list without items is written as such, or it would be nothing at all.
  if (list.items.length === 1) {
    const head = text.slice(0, start).trimEnd();
    return head.endsWith(":") ? `${head} []\n${text.slice(end)}` : `${text.slice(0, start)}  []\n${text.slice(end)}`;
  }
  return text.slice(0, start) + text.slice(end);
}

/** Where the line of an item starts and where its dash is; only blanks may be between. */
function lineOfItem(text: string, list: YAMLSeq, index: number): { start: number; dash: number } {
  const [at] = rangeOf(list.items[index]);
  const dash = text.lastIndexOf("-", at - 1);
  const start = text.lastIndexOf("\n", dash) + 1;
  const isPlain = dash !== -1 && /^[ ]*$/.test(text.slice(start, dash)) && /^-[ \t]*$/.test(text.slice(dash, at));
  if (!isPlain) throw new UneditableFile("has a list that cannot be edited safely");
  return { start, dash };
}

type Range = readonly [number, number, number];

function rangeOf(node: unknown): Range {
  const range = typeof node === "object" && node !== null && "range" in node ? node.range : null;
  if (!Array.isArray(range)) throw new UneditableFile("is written in a way that cannot be edited safely");
  return range as unknown as Range;
}

/** Behind the last character of a node, without the lines and comments that the parser counts to it. */
function contentEnd(text: string, [start, end]: Range): number {
  return start + text.slice(start, end).trimEnd().length;
}

function lineEnd(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end === -1 ? text.length : end + 1;
}

function block(value: Value): string {
  return stringify(value, {
    lineWidth: 0,
    aliasDuplicateObjects: false,
    // A text that could be read as something else, or written over lines, is put between double quotes.
    defaultStringType: "QUOTE_DOUBLE",
    defaultKeyType: "PLAIN",
    doubleQuotedAsJSON: true,
  }).replaceAll(/[\u007f-\u009f\u2028\u2029\ufeff]/g, (character) => quoted(character).slice(1, -1));
}
