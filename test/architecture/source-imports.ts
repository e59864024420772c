// What a source loads or reads by a path, and the ways of loading that no rule could follow. It works on tokens: what a comment
// or a text has loads nothing.

import { type Token, tokensOf } from "./source-tokens.ts";

export type Import = { readonly specifier: string; readonly typeOnly: boolean };

/** What a text loads and reads, and what in it cannot be followed. */
export type Loads = {
  readonly imports: readonly Import[];
  /** Paths that it reads, as they are written, relative to the file. */
  readonly reads: readonly string[];
  /** Code by which anything could be loaded or read. */
  readonly unknown: readonly string[];
  readonly readsEnvironment: boolean;
};

/** Fields of `import.meta` that are paths, or lead to one. */
const META = new Set(["url", "dirname", "filename", "resolve", "glob"]);

/** The imports of a text, those in comments left out. */
export function importsOf(text: string): readonly Import[] {
  return loadsOf(text).imports;
}

export function loadsOf(text: string): Loads {
  const loads = known.get(text) ?? readLoads(text);
  known.set(text, loads);
  return loads;
}

/** Every rule asks for the same texts. */
const known = new Map<string, Loads>();

function readLoads(text: string): Loads {
  const tokens = tokensOf(text);
  const imports: Import[] = [];
  const [reads, unknown]: [string[], string[]] = [[], []];
  let readsEnvironment = false;
  for (const [index, { text: word }] of tokens.entries()) {
    if (word === "createRequire" && textAt(tokens, index + 1) === "(") unknown.push("createRequire()");
    if (word === "process") readsEnvironment ||= isEnvironment(tokens, index);
    // The name of a member is no keyword.
    if (/^\??\.$/.test(textAt(tokens, index - 1))) continue;
    if (word !== "import" && word !== "export") continue;
    const next = textAt(tokens, index + 1);
    if (next === "(") {
      const { literal } = tokens[index + 2] ?? {};
      const isWhole = literal !== undefined && /^[,)]$/.test(textAt(tokens, index + 3));
      if (isWhole) imports.push({ specifier: literal, typeOnly: isTypeOf(tokens, index) });
      else unknown.push("import() of a computed path");
    } else if (next === ".") {
      const { read, problem } = metaAt(tokens, index);
      reads.push(...read);
      unknown.push(...problem);
    } else {
      const found = statementAt(tokens, index);
      if (found === null) continue;
      imports.push(found.imported);
      readsEnvironment ||= /^(?:node:)?process$/.test(found.imported.specifier) && found.names.includes("env");
    }
  }
  return { imports, reads, unknown, readsEnvironment };
}

function textAt(tokens: readonly Token[], index: number): string {
  return tokens[index]?.text ?? "";
}

/** `typeof import("…")` loads nothing. */
function isTypeOf(tokens: readonly Token[], index: number): boolean {
  return textAt(tokens, index - 1) === "typeof";
}

/** `process.env`, `process["env"]`, or `{ env } = process`. */
function isEnvironment(tokens: readonly Token[], index: number): boolean {
  const [dot, member] = [textAt(tokens, index + 1), tokens[index + 2]];
  if (/^\??\.$/.test(dot) && member?.text === "env") return true;
  if (dot === "[" || (dot === "?." && member?.text === "[")) return true;
  if (textAt(tokens, index - 1) !== "=" || textAt(tokens, index - 2) !== "}") return false;
  const opened = tokens.findLastIndex(({ text }, at) => at < index && text === "{");
  return tokens.slice(opened, index).some(({ text }) => text === "env");
}

/** `import.meta` at a place: a path that is read, or what reads one that cannot be known. */
function metaAt(tokens: readonly Token[], index: number): { read: string[]; problem: string[] } {
  const member = textAt(tokens, index + 4);
  if (textAt(tokens, index + 3) !== ".") return { read: [], problem: ["import.meta as a value"] };
  if (!META.has(member)) return { read: [], problem: [] };
  if (member === "glob") {
    const opened = tokens.findIndex(({ text }, at) => at > index && text === "(");
    const { literal } = tokens[opened + 1] ?? {};
    return literal === undefined
      ? { read: [], problem: ["import.meta.glob of a computed path"] }
      : { read: [literal], problem: [] };
  }
  const before = tokens.slice(Math.max(0, index - 5), index);
  const [isNew, url, opened, path, comma] = before;
  const isUrl = isNew?.text === "new" && url?.text === "URL" && opened?.text === "(" && comma?.text === ",";
  if (member === "url" && isUrl && path?.literal !== undefined) return { read: [path.literal], problem: [] };
  return { read: [], problem: [`import.meta.${member}`] };
}

/** The `import` or `export … from` statement that begins at a place, with the names that it takes, or null. */
function statementAt(tokens: readonly Token[], index: number): { imported: Import; names: readonly string[] } | null {
  const names: string[] = [];
  for (let at = index + 1; at < tokens.length; at += 1) {
    const { text = "", literal } = tokens[at] ?? {};
    const isFirst = at === index + 1;
    if (literal !== undefined) {
      const isSource = textAt(tokens, at - 1) === "from" || (isFirst && textAt(tokens, index) === "import");
      const typeOnly = textAt(tokens, index + 1) === "type" && textAt(tokens, index + 2) !== "from";
      return isSource ? { imported: { specifier: literal, typeOnly }, names } : null;
    }
    // Nothing else is part of such a statement.
    if (!/^(?:[\w$]+|[{},*])$/.test(text) || (isFirst && /^(?:const|let|function|class|default|async)$/.test(text)))
      return null;
    names.push(text);
  }
  return null;
}
