// The sentences of interfaces: contracts, settings, documentation, and the texts of pages, errors and the command line.

import { textsOf } from "./plain-words.ts";
import type { SourceFile } from "./violations.ts";

/** More words than this, and a sentence is read twice. */
export const MOST_WORDS = 25;

/** A sentence and where it is. */
export type Sentence = { readonly path: string; readonly text: string; readonly words: number };

/** Code, queries, pages and styles in a literal are not sentences. */
const CODE = /[{}<>]|=>|\b(?:SELECT|INSERT|UPDATE|DELETE|COALESCE|coalesce)\b|::|;\n|"\w+"|\bAS "/;

/** The sentences of a file that are longer than the bound. */
export function longSentences(file: SourceFile): Sentence[] {
  return blocksOf(file)
    .flatMap((block) => readable(block).split(/(?<=[.!?])\s+/))
    .map((text) => ({ path: file.path, text: text.replaceAll(/\s+/g, " ").trim(), words: wordsIn(text) }))
    .filter(({ words }) => words > MOST_WORDS);
}

/** Texts that are read on their own: a comment of a contract, a paragraph, an item, a cell, a literal. */
function blocksOf(file: SourceFile): string[] {
  const { path, text } = file;
  if (path.endsWith(".proto")) return commentBlocks(text, /^\s*\/\/ ?/);
  if (path.endsWith(".env.example")) return commentBlocks(text, /^# ?/);
  if (path.endsWith(".md")) return markdownBlocks(text);
  return textsOf(file)
    .filter((literal) => !CODE.test(literal))
    .flatMap((literal) => literal.split(/\\n|\n/));
}

/** Comments of consecutive lines. */
function commentBlocks(text: string, mark: RegExp): string[] {
  const lines = text.split("\n").map((line) => (mark.test(line) ? line.replace(mark, "") : ""));
  return lines.join("\n").split(/\n\s*\n/);
}

function markdownBlocks(text: string): string[] {
  const prose = text.replaceAll(/^```[\s\S]*?^```/gm, "");
  return prose
    .split(/\n\s*\n|\n(?=\s*(?:[-*|#>]|\d+\.))/)
    .flatMap((block) => (block.startsWith("|") ? block.split("|") : [block]));
}

/** A name in code and a link are one word each. */
function readable(text: string): string {
  return text.replaceAll(/`[^`]*`/g, "Code").replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1");
}

function wordsIn(text: string): number {
  return text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}
