// JSON and JSON with comments. Texts are spliced at the places of their syntax tree: no byte outside an edit moves.

import { getNodeValue, type Node, type ParseError, parseTree, stripComments } from "jsonc-parser";
import { type Edit, isList, isMap, type Path, UneditableFile, type Value, wrongShape } from "./edits.ts";
import { type Format, quoted } from "./format.ts";

/** JSON, and nothing but: agents that read strictly drop a file with a comment or a byte-order mark. */
export const strictJson: Format = {
  name: "JSON",
  isPlain: true,
  read: (text) => JSON.parse(text) as Value,
  edit,
  write,
};

/** JSON that may have comments and a comma behind the last entry. */
export const jsonWithComments: Format = {
  name: "JSON",
  read: (text) => (isComments(text) ? null : (getNodeValue(treeOf(text)) as Value)),
  edit: (text, change) => (isComments(text) ? below(text, change) : edit(text, change)),
  write,
};

const DEFAULT_INDENT = "  ";

function isComments(text: string): boolean {
  return stripComments(text).trim() === "";
}

/** A map of its own below comments. */
function below(comments: string, change: Edit): string {
  return `${comments.trimEnd()}\n${edit("{}\n", change)}`;
}

function treeOf(text: string): Node {
  const errors: ParseError[] = [];
  const tree = parseTree(text, errors, { allowTrailingComma: true });
  // A text that has a name twice is read differently by different agents.
  if (tree === undefined || errors.length > 0 || hasTwins(tree)) throw new UneditableFile("is not readable as JSON");
  return tree;
}

function hasTwins({ type, children = [] }: Node): boolean {
  const keys = type === "object" ? children.map(keyOf) : [];
  return new Set(keys).size < keys.length || children.some(hasTwins);
}

function edit(text: string, change: Edit): string {
  const tree = treeOf(text);
  if (change.kind === "remove") return remove(text, tree, change.path);
  if (change.kind === "insert") {
    const list = nodeAt(tree, change.path);
    if (list?.type !== "array") throw wrongShape(change.path, "a list");
    return addEntry(text, { container: list, index: change.index, key: null, value: change.value });
  }
  return set(text, tree, change);
}

function set(text: string, tree: Node, { path, value }: { path: Path; value: Value }): string {
  const known = nodeAt(tree, path);
  if (known !== undefined) {
    const written = json(value, { unit: indentOf(text), indent: lineIndent(text, known.offset) });
    return splice(text, { from: known.offset, to: known.offset + known.length, text: written });
  }
  // The deepest map that is there takes all that is missing below it as one entry.
  let depth = path.length - 1;
  while (depth > 0 && nodeAt(tree, path.slice(0, depth)) === undefined) depth -= 1;
  const container = nodeAt(tree, path.slice(0, depth));
  const key = path[depth];
  if (container?.type !== "object" || typeof key !== "string") throw wrongShape(path.slice(0, depth), "a map");
  const missing = path.slice(depth + 1).reduceRight<Value>((inner, step) => ({ [step]: inner }), value);
  return addEntry(text, { container, index: container.children?.length ?? 0, key, value: missing });
}

/** Adds an entry in front of the one at `index`, or behind the last, in the manner of its neighbours. */
function addEntry(
  text: string,
  { container, index, key, value }: { container: Node; index: number; key: string | null; value: Value },
): string {
  const entries = container.children ?? [];
  const unit = indentOf(text);
  const isOneLine = entries.length > 0 && !text.slice(container.offset, entries[0]?.offset).includes("\n");
  const outer = lineIndent(text, container.offset);
  const indent = entries[0] === undefined || isOneLine ? outer + unit : lineIndent(text, entries[0].offset);
  const name = key === null ? "" : `${quoted(key)}: `;
  const written = `${name}${isOneLine ? oneLine(value) : json(value, { unit, indent })}`;
  const gap = isOneLine ? " " : `\n${indent}`;
  const next = entries[index];
  if (next !== undefined) return splice(text, { from: next.offset, to: next.offset, text: `${written},${gap}` });
  const last = entries[index - 1];
  const close = container.offset + container.length - 1;
  if (last === undefined) {
    // An empty container may hold comments, which stay in front of the entry.
    const inside = text.slice(container.offset + 1, close).trimEnd();
    const from = container.offset + 1 + inside.length;
    return splice(text, { from, to: close, text: `\n${indent}${written}\n${outer}` });
  }
  const end = last.offset + last.length;
  const comma = commaBehind(text, end);
  if (comma === null) {
    const withComma = splice(text, { from: end, to: end, text: "," });
    const at = endOfLineComment(withComma, end + 1);
    return splice(withComma, { from: at, to: at, text: `${gap}${written}` });
  }
  const at = endOfLineComment(text, comma + 1);
  return splice(text, { from: at, to: at, text: `${gap}${written},` });
}

function remove(text: string, tree: Node, path: Path): string {
  const found = nodeAt(tree, path);
  if (found === undefined) return text;
  const entry = found.parent?.type === "property" ? found.parent : found;
  const siblings = entry.parent?.children ?? [];
  const index = siblings.indexOf(entry);
  const end = entry.offset + entry.length;
  const comma = commaBehind(text, end);
  // The line goes as a whole when nothing else is on it.
  const from = startOfBlank(text, entry.offset);
  const behind = comma === null ? end : comma + 1;
  const isOwnLine = text[from - 1] === "\n" && /^[ \t]*(?=\n|$)/.test(text.slice(behind));
  const previous = siblings[index - 1];
  const isLast = index === siblings.length - 1;
  const cut = isOwnLine
    ? splice(text, { from: from - 1, to: behind + blanksAt(text, behind), text: "" })
    : splice(text, {
        from: isLast ? from : entry.offset,
        to: isLast ? behind : behind + blanksAt(text, behind),
        text: "",
      });
  // Of two commas, the one that is left may only stay where a comma behind the last entry was there before.
  const before = previous === undefined ? null : commaBehind(text, previous.offset + previous.length);
  return isLast && comma === null && before !== null ? splice(cut, { from: before, to: before + 1, text: "" }) : cut;
}

function nodeAt(tree: Node, path: Path): Node | undefined {
  let node: Node | undefined = tree;
  for (const step of path) {
    if (node?.type === "array") node = typeof step === "number" ? node.children?.[step] : undefined;
    else if (node?.type === "object") node = node.children?.find((entry) => keyOf(entry) === step)?.children?.[1];
    else return undefined;
  }
  return node;
}

function keyOf(property: Node): unknown {
  return property.children?.[0]?.value;
}

/** The place of the comma behind an entry, comments between them passed over. */
function commaBehind(text: string, end: number): number | null {
  const between = /^(?:\s|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/.exec(text.slice(end))?.[0].length ?? 0;
  return text[end + between] === "," ? end + between : null;
}

/** The place behind a comment on the same line, which belongs to the entry in front of it. */
function endOfLineComment(text: string, at: number): number {
  return at + (/^[ \t]*(?:\/\/[^\n]*|\/\*[^\n]*?\*\/(?=[ \t]*\n))/.exec(text.slice(at))?.[0].length ?? 0);
}

function startOfBlank(text: string, at: number): number {
  return at - (/(?<![ \t])[ \t]+$/.exec(text.slice(0, at))?.[0].length ?? 0);
}

function blanksAt(text: string, at: number): number {
  return /^[ \t]*/.exec(text.slice(at))?.[0].length ?? 0;
}

function lineIndent(text: string, at: number): string {
  const start = text.lastIndexOf("\n", at - 1) + 1;
  return /^[ \t]*/.exec(text.slice(start, at))?.[0] ?? "";
}

/** The indentation of one level in most of this text. */
function indentOf(text: string): string {
  const indents = [...text.matchAll(/^[ \t]+(?=")/gm)].map(([indent]) => indent);
  const withTabs = indents.filter((indent) => indent.startsWith("\t")).length;
  return withTabs * 2 > indents.length ? "\t" : (indents.find((indent) => !indent.startsWith("\t")) ?? DEFAULT_INDENT);
}

function splice(text: string, { from, to, text: by }: { from: number; to: number; text: string }): string {
  return text.slice(0, from) + by + text.slice(to);
}

function write(value: Value): string {
  return `${json(value, { unit: DEFAULT_INDENT, indent: "" })}\n`;
}

function json(value: Value, { unit, indent }: { unit: string; indent: string }): string {
  if (typeof value === "string") return quoted(value);
  const inner = indent + unit;
  const wrap = ([open, close]: readonly [string, string], lines: readonly string[]): string =>
    lines.length === 0 ? open + close : `${open}\n${inner}${lines.join(`,\n${inner}`)}\n${indent}${close}`;
  if (isList(value))
    return wrap(
      ["[", "]"],
      value.map((item) => json(item, { unit, indent: inner })),
    );
  if (!isMap(value)) return JSON.stringify(value);
  return wrap(
    ["{", "}"],
    Object.entries(value).map(([key, item]) => `${quoted(key)}: ${json(item, { unit, indent: inner })}`),
  );
}

/** A value on one line. */
export function oneLine(value: Value): string {
  if (typeof value === "string") return quoted(value);
  if (isList(value)) return `[${value.map(oneLine).join(", ")}]`;
  if (!isMap(value)) return JSON.stringify(value);
  const entries = Object.entries(value).map(([key, item]) => `${quoted(key)}: ${oneLine(item)}`);
  return entries.length === 0 ? "{}" : `{ ${entries.join(", ")} }`;
}
