// Parses the Markdown of our documentation into blocks when the dashboard is built. `marked` parses it; this module
// turns its tokens into blocks that pages can render. None of them is HTML: text that looks like HTML is shown as text.

import { type MarkedToken, marked, type Token, type Tokens } from "marked";

/** A part of a line. */
export type Inline =
  | { readonly kind: "text" | "code" | "strong" | "em"; readonly text: string }
  | { readonly kind: "link"; readonly text: string; readonly to: string };

/** A block of a page. */
export type Block =
  | { readonly kind: "heading"; readonly level: number; readonly text: string; readonly id: string }
  | { readonly kind: "paragraph"; readonly inlines: readonly Inline[] }
  | { readonly kind: "list"; readonly ordered: boolean; readonly items: readonly (readonly Inline[])[] }
  | { readonly kind: "table"; readonly head: Row; readonly rows: readonly Row[] }
  | { readonly kind: "code"; readonly language: string; readonly text: string }
  /** The place of the prices of all models. */
  | { readonly kind: "models" };

type Row = readonly (readonly Inline[])[];

const FENCE = "```";

/** The blocks of a text. Errors: Error, where it has an element that pages cannot render. */
export function readMarkdown(text: string): Block[] {
  let line = 1;
  return marked.lexer(text).flatMap((token) => {
    const start = line;
    line += token.raw.split("\n").length - 1;
    return token.type === "space" ? [] : [readBlock(token as MarkedToken, start)];
  });
}

function readBlock(token: MarkedToken, line: number): Block {
  const { type } = token;
  if (type === "heading") return { kind: type, level: token.depth, text: token.text, id: idOf(token.text) };
  if (type === "list") {
    return { kind: type, ordered: token.ordered, items: token.items.map(({ tokens }) => inlinesOf(tokens, line)) };
  }
  if (type === "table") {
    const readRow = (cells: readonly Tokens.TableCell[]): Row => cells.map(({ tokens }) => inlinesOf(tokens, line));
    return { kind: type, head: readRow(token.header), rows: token.rows.map(readRow) };
  }
  if (type === "code") {
    if (!token.raw.trimEnd().endsWith(FENCE)) throw new Error(`line ${line}: a block of code has no end`);
    return { kind: type, language: token.lang ?? "", text: token.text };
  }
  if (type === "html") return { kind: "paragraph", inlines: [{ kind: "text", text: unwrapped(token.text.trim()) }] };
  if (type !== "paragraph") throw new Error(`line ${line}: no page shows "${type}"`);
  if (token.raw.trim() === "{models}") return { kind: "models" };
  return { kind: type, inlines: inlinesOf(token.tokens, line) };
}

/** The parts of a block's tokens; adjacent texts are joined. */
function inlinesOf(tokens: readonly Token[], line: number): Inline[] {
  const inlines: Inline[] = [];
  for (const inline of tokens.flatMap((token) => readInline(token as MarkedToken, line))) {
    const last = inlines.at(-1);
    if (inline.kind === "text" && last?.kind === "text")
      inlines.splice(-1, 1, { ...last, text: last.text + inline.text });
    else inlines.push(inline);
  }
  return inlines;
}

function readInline(token: MarkedToken, line: number): Inline[] {
  const { type } = token;
  // The text of a list item has its parts inside it.
  if (type === "text" && "tokens" in token && token.tokens !== undefined) return inlinesOf(token.tokens, line);
  if (type === "text" || type === "escape" || type === "html") return [{ kind: "text", text: unwrapped(token.text) }];
  if (type === "codespan") return [{ kind: "code", text: token.text }];
  if (type === "strong" || type === "em") return [{ kind: type, text: unwrapped(token.text) }];
  if (type === "link") return [{ kind: type, text: unwrapped(token.text), to: token.href }];
  throw new Error(`line ${line}: no page shows "${type}"`);
}

/** A line break in a text is a space. */
function unwrapped(text: string): string {
  return text.replaceAll("\n", " ");
}

function idOf(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "");
}
