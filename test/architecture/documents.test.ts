// The documents of the repository: links lead somewhere, decisions have their form, and the changelog knows the version.

import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { packageVersion } from "../../src/kernel/version.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), "utf8");
const documents = globSync(
  ["*.md", ".github/**/*.md", "deploy/**/*.md", "src/**/{README,DECISIONS}.md", "test/**/*.md"],
  { cwd: root },
);

it("every link to a file leads to one", () => {
  const links = documents.flatMap((path) =>
    Array.from(read(path).matchAll(/\]\((?!https?:|mailto:|#)([^)#\s]+)[^)]*\)/g), ([, target = ""]) => ({
      path,
      target,
    })),
  );
  expect(links.length).toBeGreaterThan(50);
  expect(links.filter(({ path, target }) => !existsSync(join(root, dirname(path), target)))).toEqual([]);
});

/** A path between backticks that ends as a source file does; a star in it stands for any name. */
const NAMED_FILE = /`((?:[\w@.*-]+\/)*[\w@.*-]+\.(?:ts|tsx|js|mjs|sql|css|md))`/g;

it("every file that a README names is in its own folder, in src/ or in the repository", () => {
  const guides = ["CLIENTS", "OPERATING", "TRANSFERS"].map((name) => `.github/${name}.md`);
  const readmes = documents.filter(
    (path) => path === "README.md" || /^(?:src|deploy)\//.test(path) || guides.includes(path),
  );
  const named = readmes.flatMap((readme) =>
    Array.from(read(readme).matchAll(NAMED_FILE), ([, file = ""]) => ({ readme, file })),
  );
  expect(named.length).toBeGreaterThan(500);
  const isThere = (path: string): boolean =>
    path.includes("*") ? globSync(path, { cwd: root }).length > 0 : existsSync(join(root, path));
  const isMissing = ({ readme, file }: (typeof named)[number]): boolean =>
    ![dirname(readme), "src", "."].some((folder) => isThere(join(folder, file)));
  expect(named.filter(isMissing)).toEqual([]);
});

const MOST_README_LINES = 80;

it("the README of a room is short, and its decisions are in the order of their dates", () => {
  const readmes = documents.filter((path) => path === "README.md" || /^(?:src|deploy)\//.test(path));
  expect(readmes.length).toBeGreaterThan(40);
  expect(readmes.filter((path) => read(path).trimEnd().split("\n").length > MOST_README_LINES)).toEqual([]);
  const isInOrder = (path: string): boolean => {
    const dates = Array.from(read(path).matchAll(/^- (\d{4}-\d{2}-\d{2})/gm), ([, date = ""]) => date);
    return dates.every((date, index) => date >= (dates[index - 1] ?? ""));
  };
  expect(readmes.filter((path) => !isInOrder(path))).toEqual([]);
});

const decisions = documents.filter((path) => /^\.github\/adr\/\d{4}-[a-z0-9-]+\.md$/.test(path));

it("there are at least ten decisions, numbered without a gap and all in the list", () => {
  const numbers = decisions.map((path) => Number(path.slice(".github/adr/".length).slice(0, 4)));
  expect(numbers.toSorted((one, other) => one - other)).toEqual(numbers.map((_, index) => index + 1));
  expect(decisions.length).toBeGreaterThanOrEqual(10);
  const list = read(".github/adr/README.md");
  expect(decisions.filter((path) => !list.includes(`(${path.slice(".github/adr/".length)})`))).toEqual([]);
});

it.each(decisions)("has context, decision and consequences in 40 lines: %s", (path) => {
  const text = read(path);
  expect(text.match(/^## .*$/gm)).toEqual(["## Context", "## Decision", "## Consequences"]);
  expect(text.split("\n").length).toBeLessThanOrEqual(41);
});

it("the newest version of the changelog is the one of package.json", () => {
  const [newest] = Array.from(
    read(".github/CHANGELOG.md").matchAll(/^## \[(\d+\.\d+\.\d+)\]/gm),
    ([, version]) => version,
  );
  expect(newest).toBe(packageVersion());
});
