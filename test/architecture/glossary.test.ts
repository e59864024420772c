// The glossary against the texts: what it names is in use, and what it replaces is not.

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { isCompared, textsOf } from "./plain-words.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), "utf8");

/** The texts of files as one, in lower case. */
function textOf(patterns: readonly string[], names = true): string {
  return globSync([...patterns], { cwd: root })
    .filter(isCompared)
    .flatMap((path) => textsOf({ path, text: read(path) }, { names }))
    .join("\n")
    .toLowerCase();
}

const ENGLISH = ["proto/saldo/**/*.proto", ".env.example", "src/docs/pages/*.en.md", "src/**/*.{ts,tsx}"];
const english = textOf(ENGLISH);
const sentences = textOf(ENGLISH, false);
const indonesian = textOf(["src/dashboard/**/*.{ts,tsx}", "src/docs/pages/*.id.md"]);

const rows = Array.from(
  read(".github/GLOSSARY.md").matchAll(/^\| (?!English)([^|\n]+) \| ([^|\n]+) \| ([^|\n]+) \| ([^|\n]+) \|$/gm),
  ([, term = "", translation = "", , replaced = ""]) => ({ term, translation, replaced }),
);

const isUsed = (text: string, words: string): boolean =>
  new RegExp(`(?<![\\w-])${words.toLowerCase().replace(/y$/, "(?:y|ie)")}(?:s|es|ed)?(?![\\w-])`).test(text);

it("has a row for each thing, once", () => {
  expect(rows.length).toBeGreaterThan(50);
  expect(new Set(rows.map(({ term }) => term)).size).toBe(rows.length);
});

it.each(rows)("$term is in use, and so is $translation", ({ term, translation }) => {
  expect({ english: isUsed(english, term), indonesian: isUsed(indonesian, translation) }).toEqual({
    english: true,
    indonesian: true,
  });
});

const replacements = rows.flatMap(({ term, replaced }) =>
  replaced === "–" ? [] : replaced.split(", ").map((word) => ({ word, term })),
);

it.each(replacements)("$word is not in use, $term is", ({ word }) => {
  expect(isUsed(sentences, word)).toBe(false);
});
