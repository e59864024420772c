import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { isCompared, wordViolations } from "./plain-words.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
// Documents of security quote names of tests, and the glossary lists words that are not used.
const GUIDES = ".github/{CLIENTS,CONTRIBUTING,OPERATING,TRANSFERS}.md";
const TEXTS = [
  "proto/saldo/**/*.proto",
  ".env.example",
  "src/**/*.{ts,tsx,js}",
  "src/database/functions/*.sql",
  "src/**/*.md",
  ".ci/*.mjs",
  ".ci/run",
  "test/**/*.ts",
  "README.md",
  "test/**/README.md",
  ".github/adr/*.md",
  GUIDES,
];

it("no text that is read without its code, and no comment, has a forbidden word", () => {
  // The list and its tests have the words; a migration that was applied is never changed.
  const quoting = (path: string): boolean => /plain-words/.test(path);
  const files = globSync(TEXTS, { cwd: root })
    .filter((path) => !quoting(path))
    .map((path) => ({
      path,
      text: readFileSync(join(root, path), "utf8"),
    }));
  expect(files.length).toBeGreaterThan(300);
  expect(files.flatMap(wordViolations)).toEqual([]);
});

it.each([
  ["proto/saldo/keys/v1/key.proto", "// What a caller is told."],
  [".env.example", "# Without it nobody signs in."],
  ["src/docs/pages/errors.en.md", "It is Somebody else's."],
  ["src/dashboard/pages/keys/keys-messages.ts", 'export const WORDS = { en: { title: "Count anew" } };'],
  ["src/keys/keys.ts", 'throw new NotFound("Nobody has this key.");'],
  ["src/app/process/node.ts", "logger.warn({ id }, `worker ${id} is told to end`);"],
  ["src/keys/keys.ts", "const told = 1; // nobody is asked"],
  ["src/keys/keys.ts", "/** What its owner said of it. */"],
  ["src/keys/keys.test.ts", "/** A key that nobody has. */"],
  ["src/keys/README.md", "- A key is told once."],
  ["src/keys/keys.ts", "// The limit stands in the row."],
  ["src/dashboard/pages/keys/keys.tsx", "{/* The world of the key. */}"],
  ["src/database/functions/f.sql", "SELECT 1; -- what the caller is told"],
  [".ci/check.mjs", "// Runs anew."],
  ["test/keys/keys.test.ts", 'it.each([1])("is found by nobody, %i", () => {});'],
  ["test/keys/keys.test.ts", "describe(`a ${kind} that nobody has`, () => {});"],
  ["test/keys/support.ts", "/** What it says. */"],
])("a forbidden word is found in %s", (path, text) => {
  expect(wordViolations({ path, text })).toHaveLength(1);
});

it.each([
  ["src/keys/keys.ts", 'const told = "https://told.example/nobody";'],
  ["src/keys/keys.ts", 'const word = "nobody";'],
  ["src/keys/keys.ts", "const text = `the answer of ${told(fact)} is here`;"],
  ["proto/saldo/keys/v1/key.proto", "string told = 1;"],
  ["src/keys/keys.ts", "// Null stands for every key; a stand-in is short."],
  ["test/keys/support.ts", 'const body = "nobody is told";'],
  ["test/keys/keys.test.ts", 'it("has a name", () => send("nobody is told"));'],
])("a name in the code is no text: %s %s", (path, text) => {
  expect(wordViolations({ path, text })).toEqual([]);
});

it("lists of words are not compared, and every other file is", () => {
  const files = globSync("src/**/*.ts", { cwd: root });
  expect(files.filter((path) => !isCompared(path))).toEqual(["src/identity/passwords/common-words.ts"]);
});
