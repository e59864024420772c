// The table of OWASP ASVS in SECURITY.md, compared with the standard's list of requirements and against the tests it names.

import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { asvsLevels, MONEY_CHAPTERS } from "./asvs-levels.ts";

type State = "met" | "not met" | "does not apply";
type Row = { readonly id: string; readonly asks: string; readonly state: string; readonly evidence: string };

const STATES: readonly State[] = ["met", "not met", "does not apply"];
const ROW = /^\| (v5\.0\.0-\S+) \| (.*?) \| (.*?) \| (.*?) \|$/gm;
const EVIDENCE = /`((?:test|src)\/[^`]+\.test\.ts)` "([^"]+)"/g;
/** A reason, not only that it does not apply. */
const SHORTEST_REASON = 30;

const root = new URL("../../", import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), "utf8");
const table = read(".github/ASVS.md");
const summary = read(".github/SECURITY.md");
const rows: readonly Row[] = [...table.matchAll(ROW)].map(([, id = "", asks = "", state = "", evidence = ""]) => ({
  id,
  asks,
  state,
  evidence,
}));

const chapterOf = (id: string): number => Number(/-(\d+)\./.exec(id)?.[1]);
const wanted = [...asvsLevels].flatMap(([id, level]) =>
  level < 3 || MONEY_CHAPTERS.includes(chapterOf(id)) ? [id] : [],
);

test("every requirement of levels 1 and 2 has a row, and those of level 3 that concern money", () => {
  expect([...asvsLevels.values()].map((level) => [1, 2, 3].filter((each) => each === level)).flat()).toHaveLength(345);
  expect(rows.map(({ id }) => id)).toEqual(wanted);
  expect(table.match(/^\| v/gm)).toHaveLength(rows.length);
});

test("every row has what is required, and one of three states", () => {
  const vague = rows.filter(({ asks, state }) => asks.length < 6 || !STATES.includes(state as State));
  expect(vague).toEqual([]);
});

test("a row that is met names tests that exist, by their titles", () => {
  const titles = new Map<string, string>();
  const textOf = (path: string): string => {
    const known = titles.get(path) ?? (existsSync(new URL(path, root)) ? read(path) : "");
    titles.set(path, known);
    return known;
  };
  const unfounded = rows
    .filter(({ state }) => state === "met")
    .flatMap(({ id, evidence }) => {
      const named = [...evidence.matchAll(EVIDENCE)];
      if (named.length === 0) return [`${id} names no test`];
      return named.flatMap(([, path = "", title = ""]) =>
        isTitle(title, textOf(path)) ? [] : [`${id}: there is no test "${title}" in ${path}`],
      );
    });
  expect(unfounded).toEqual([]);
  // Nothing else that looks like the name of a test file goes unread.
  const files = rows.flatMap(({ evidence }) => evidence.match(/[\w/-]+\.test\.tsx?/g) ?? []);
  expect(files.filter((path) => !existsSync(new URL(path, root)))).toEqual([]);
});

test("a row that is not met has what is missing, and one that does not apply has a reason", () => {
  const others = rows.filter(({ state }) => state !== "met");
  expect(others.filter(({ evidence }) => evidence.length < SHORTEST_REASON || !evidence.endsWith("."))).toEqual([]);
});

test("SECURITY.md shows the counts of the table, chapter by chapter", () => {
  expect(between("asvs-counts")).toBe(counts());
});

test("SECURITY.md names every row that is not met, level 1 first, before anything else of the table", () => {
  const levelOf = ({ id }: Row): number => asvsLevels.get(id) ?? 0;
  const missing = rows.filter(({ state }) => state === "not met").toSorted((a, b) => levelOf(a) - levelOf(b));
  const lines = missing.map(
    ({ id, asks, evidence }) => `- ${id} (level ${asvsLevels.get(id) ?? 0}), ${asks}: ${evidence}`,
  );
  expect(between("asvs-not-met")).toBe(lines.join("\n"));
  expect(summary.indexOf("asvs-not-met")).toBeLessThan(summary.indexOf("asvs-counts"));
});

/** Whether a text is the whole title of a test or of a group of tests in a file. */
function isTitle(title: string, source: string): boolean {
  const quoted = title.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`);
  return new RegExp(`\\(\\s*(["'\`])${quoted}\\1,`).test(source);
}

/** The text between two marks of SECURITY.md. */
function between(mark: string): string {
  const [, text = ""] = new RegExp(`<!-- ${mark} -->\\n\\n?([\\s\\S]*?)\\n\\n?<!-- /${mark} -->`).exec(summary) ?? [];
  return text;
}

/** The counts as a table in Markdown: to be copied from the failure of the test. */
function counts(): string {
  const chapters = [...table.matchAll(/^## V(\d+) (.+)$/gm)].map(([, number = "", name = ""]) => {
    const own = rows.filter(({ id }) => chapterOf(id) === Number(number));
    return `| V${number} ${name} | ${STATES.map((state) => countOf(own, state)).join(" | ")} |`;
  });
  const head = ["| chapter | met | not met | does not apply |", "|---|---|---|---|"];
  const sums = STATES.map((state) => countOf(rows, state)).join(" | ");
  return [...head, ...chapters, `| all ${rows.length} | ${sums} |`].join("\n");
}

function countOf(some: readonly Row[], state: State): number {
  return some.filter((row) => row.state === state).length;
}
