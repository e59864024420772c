// Finds forbidden words in the texts that are read without their code (contracts, settings, interfaces, errors, logs, names of
// tests and the documentation) and in the comments of sources, tests and SQL. The list is .ci/plain-words.mjs, which commit subjects obey as well.

import type { SourceFile } from "./violations.ts";

const PLAIN_WORDS: string = "../../.ci/plain-words.mjs";
type Words = ReadonlyMap<string, string>;
const { wordProblems, FORBIDDEN_IN_COMMENTS } = (await import(PLAIN_WORDS)) as {
  wordProblems: (text: string, words?: Words) => string[];
  FORBIDDEN_IN_COMMENTS: Words;
};

/** Files whose literals are no sentences: words to compare a password with. */
const WORD_LISTS: readonly string[] = ["src/identity/passwords/common-words.ts"];

/** Whether the texts of a file are compared with the list and the glossary. */
export function isCompared(path: string): boolean {
  return !WORD_LISTS.includes(path);
}

const COMMENTS = /\/\*[\s\S]*?\*\/|(?<![:"'`])\/\/.*$/gm;
const CONTRACT_COMMENT = /\/\/(.*)$/gm;
const SQL_COMMENT = /--.*$/gm;
const TEST_NAME = /\b(?:it|test|describe)(?:\.\w+)*(?:\([^"`]*?\))?\(\s*(?:"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`)/g;
/** A literal that looks like a comment, such as a pattern of paths, is none. */
const PATTERN = /"[^"\n]*\*\*?\/[^"\n]*"/g;
/** A text in double quotes, or a template. */
const LITERAL = /"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`/g;
const INSERTED = /\$\{(?:[^{}]|\{[^{}]*\})*\}/g;

/** Every forbidden word that a reader of this file's texts would see. */
export function wordViolations(file: SourceFile): string[] {
  if (!isCompared(file.path)) return [];
  const problemsOf = (text: string, words?: Words): string[] =>
    wordProblems(text, words).map((problem) => `${file.path}: ${problem} in: ${text.trim()}`);
  return [
    // The texts of a contract are its comments.
    ...(file.path.endsWith(".proto") ? [] : textsOf(file)).flatMap((text) => problemsOf(text)),
    ...commentsOf(file).flatMap((text) => problemsOf(text, FORBIDDEN_IN_COMMENTS)),
  ];
}

/** What of a file is read without its code. A literal without a space is a name, which may be asked for as well. */
export function textsOf({ path, text }: SourceFile, { names = false } = {}): string[] {
  if (path.endsWith(".proto")) return Array.from(text.matchAll(CONTRACT_COMMENT), ([, comment = ""]) => comment);
  // What a document has in code is a name.
  if (path.endsWith(".md")) return text.replaceAll(/`[^`\n]*`/g, "…").split("\n");
  if (path.endsWith(".sql")) return [];
  if (/\.m?js$/.test(path)) return [];
  if (!/\.tsx?$/.test(path)) return text.split("\n");
  if (path.endsWith(".test.ts")) return namesOfTests(text);
  // Helpers of tests have data of others in their literals.
  if (path.startsWith("test/")) return [];
  const literals = text.replaceAll(COMMENTS, "").matchAll(LITERAL);
  return Array.from(literals, ([, quoted = "", template = ""]) => (quoted + template).replaceAll(INSERTED, "…")).filter(
    (each) => names || each.includes(" "),
  );
}

/** The comments of a source, or of a contract. */
export function commentsOf({ path, text }: SourceFile): string[] {
  if (path.endsWith(".sql")) return text.match(SQL_COMMENT) ?? [];
  return /\.(?:tsx?|m?js|proto)$/.test(path) ? (text.replaceAll(PATTERN, '""').match(COMMENTS) ?? []) : [];
}

function namesOfTests(text: string): string[] {
  return Array.from(text.matchAll(TEST_NAME), ([, quoted = "", template = ""]) =>
    (quoted + template).replaceAll(INSERTED, "…"),
  );
}
