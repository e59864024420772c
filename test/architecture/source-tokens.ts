// The tokens of a source, by the scanner of TypeScript: comments are none, and the text of a string is no code.

import { SyntaxKind } from "typescript/unstable/ast";
import { createScanner } from "typescript/unstable/ast/scanner";

/** A word, a sign, or a literal with its value. The pieces of a template are literals. */
export type Token = { readonly text: string; readonly literal?: string };

const LITERALS: ReadonlySet<SyntaxKind> = new Set([
  SyntaxKind.StringLiteral,
  SyntaxKind.NoSubstitutionTemplateLiteral,
  SyntaxKind.TemplateHead,
  SyntaxKind.TemplateMiddle,
  SyntaxKind.TemplateTail,
]);
/** Behind these a slash divides; elsewhere it begins a regular expression. */
const ENDS_OF_VALUES = /^(?:[\w$]+|[)\]}"'`].*)$/s;
const WORDS_BEFORE_VALUES = /^(?:return|typeof|case|in|of|void|await|yield|throw|else|do|new|delete)$/;

/** The tokens of a text, comments and spaces left out. */
export function tokensOf(text: string): Token[] {
  const scanner = createScanner(true, undefined, text);
  const tokens: Token[] = [];
  // A closing brace ends what is inserted into a template, or a block within that.
  const braces: ("template" | "block")[] = [];
  for (let kind = scanner.scan(); kind !== SyntaxKind.EndOfFile; kind = scanner.scan()) {
    const before = tokens.at(-1)?.text ?? "";
    const isValue = ENDS_OF_VALUES.test(before) && !WORDS_BEFORE_VALUES.test(before);
    if (kind === SyntaxKind.CloseBraceToken && braces.pop() === "template") kind = scanner.reScanTemplateToken(false);
    if (/^\/=?$/.test(scanner.getTokenText()) && !isValue) kind = scanner.reScanSlashToken();
    if (kind === SyntaxKind.OpenBraceToken) braces.push("block");
    if (kind === SyntaxKind.TemplateHead || kind === SyntaxKind.TemplateMiddle) braces.push("template");
    const token = { text: scanner.getTokenText() };
    tokens.push(LITERALS.has(kind) ? { ...token, literal: scanner.getTokenValue() } : token);
  }
  return tokens;
}

/** What stands for an expression inside a literal. */
export const INSERTED = "${}";

/** The strings and templates of a text. Those that are added to each other are one. */
export function literalsOf(text: string): string[] {
  const found: string[] = [];
  const open: string[] = [];
  let isAdded = false;
  const close = (value: string): void => {
    if (isAdded) found.push((found.pop() ?? "") + value);
    else found.push(value);
  };
  const tokens = tokensOf(text);
  for (const [index, { text: written, literal }] of tokens.entries()) {
    if (literal === undefined) continue;
    const isStart = !written.startsWith("}");
    const isEnd = !written.endsWith("${");
    if (isStart) isAdded = tokens[index - 1]?.text === "+" && tokens[index - 2]?.literal !== undefined;
    if (isStart && isEnd) close(literal);
    else if (isStart) open.push(literal + INSERTED);
    else if (isEnd) close((open.pop() ?? "") + literal);
    else open.push((open.pop() ?? "") + literal + INSERTED);
  }
  return found;
}
