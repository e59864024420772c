import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";

type FileResults = { readonly name: string; readonly passed: number; readonly failed: number };
const RESULTS: string = "../../.ci/results.mjs";
const { NO_SECOND_TRY, countTests, filesForSecondTry, mergeResults } = (await import(RESULTS)) as {
  NO_SECOND_TRY: ReadonlySet<string>;
  countTests: (results: readonly FileResults[]) => { passed: number; failed: number };
  filesForSecondTry: (results: readonly FileResults[]) => string[];
  mergeResults: (first: readonly FileResults[], second: readonly FileResults[]) => FileResults[];
};

const root = new URL("../../", import.meta.url);
const passing = { name: "test/money/audit.test.ts", passed: 7, failed: 0 };
const failing = (name: string): FileResults => ({ name, passed: 3, failed: 1 });
const browser = (name: string): FileResults => failing(`test/dashboard/${name}.test.ts`);

describe("a second try of tests", () => {
  it("is given to the browser tests that failed, when nothing else did", () => {
    expect(filesForSecondTry([passing, browser("frame"), browser("usage")])).toEqual([
      "test/dashboard/frame.test.ts",
      "test/dashboard/usage.test.ts",
    ]);
    expect(filesForSecondTry([passing])).toEqual([]);
    expect(filesForSecondTry([])).toEqual([]);
  });

  it.each([
    ["of money", failing("test/money/races.test.ts")],
    ["beside the sources", failing("src/dashboard/i18n/decimal.test.ts")],
    ["of security in a browser", browser("session")],
    ["of money beside the browser tests", browser("calculator")],
    ["in a folder below", browser("below/frame")],
    ["outside of every test", failing("outside of tests")],
  ])("is given to no file when one failed %s", (_kind, other) => {
    expect(filesForSecondTry([browser("frame"), other])).toEqual([]);
  });

  it("is given to three files at most", () => {
    const three = ["frame", "usage", "trouble"].map(browser);
    expect(filesForSecondTry(three)).toHaveLength(3);
    expect(filesForSecondTry([...three, browser("settings")])).toEqual([]);
  });

  it("counts in place of the first, and nothing else does", () => {
    const first = [passing, browser("frame"), browser("usage")];
    const second = [{ ...browser("frame"), passed: 4, failed: 0 }];
    const merged = mergeResults(first, second);
    expect(merged).toEqual([passing, second[0], browser("usage")]);
    expect(countTests(merged)).toEqual({ passed: 14, failed: 1 });
    expect(countTests(mergeResults(first, []))).toEqual({ passed: 13, failed: 2 });
    expect(countTests(mergeResults([], second))).toEqual({ passed: 0, failed: 0 });
  });

  it("names files that exist where it makes exceptions", () => {
    expect(NO_SECOND_TRY.size).toBeGreaterThan(0);
    expect([...NO_SECOND_TRY].filter((name) => !existsSync(new URL(name, root)))).toEqual([]);
  });
});
