// The check of commit subjects, which `npm run check` runs on this repository, here on repositories of its own.

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const COMMITS: string = "../../.ci/commits.mjs";
type Outcome = { problems: string[]; note?: string };
const { checkCommits, subjectProblems } = (await import(COMMITS)) as {
  checkCommits: (options: { folder: string; since: string }) => Outcome;
  subjectProblems: (subject: string) => string[];
};

it.each([
  "ledger: move merchant funds into the ledger",
  "gateway, billing: charge a cut stream by its usage",
  "merchant/payouts: bring a stopped wallet back",
  ".ci: check the subjects of commits",
])("accepts the subject: %s", (subject) => {
  expect(subjectProblems(subject)).toEqual([]);
});

it.each([
  ["Fix the audit", "has not the form"],
  ["ledger move funds", "has not the form"],
  ["ledger: Move funds", "capital letter"],
  ["ledger: moved funds", "no imperative"],
  ["ledger: moves funds", "no imperative"],
  ["ledger: moving funds", "no imperative"],
  ["ledger: move funds.", "full stop"],
  ["ledger: tell nobody", '"nobody"'],
  [`ledger: ${"move ".repeat(13)}`, "72 are allowed"],
])("refuses the subject: %s", (subject, problem) => {
  expect(subjectProblems(subject)).toEqual([expect.stringContaining(problem)]);
});

describe("in a repository", () => {
  let folder: string;
  const git = (...args: string[]): string =>
    execFileSync("git", ["-c", "user.name=Test", "-c", "user.email=test@saldo.test", ...args], {
      cwd: folder,
      encoding: "utf8",
    }).trim();
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "saldo-commits-"));
    git("init", "--quiet", "full");
    folder = join(folder, "full");
    for (const subject of ["Old and free", "ledger: add a check", "Wrong"]) {
      git("commit", "--quiet", "--allow-empty", "-m", subject);
    }
  });
  afterAll(() => rmSync(join(folder, ".."), { recursive: true }));

  it("checks the commits behind the named one", () => {
    const { problems, note } = checkCommits({ folder, since: git("rev-parse", "HEAD~2") });
    expect(problems).toEqual([expect.stringContaining("Wrong: has not the form")]);
    expect(note).toBe("commits: 2");
    expect(checkCommits({ folder, since: git("rev-parse", "HEAD") }).problems).toEqual([]);
  });

  it("checks nothing where the named commit is not in the history, and reports that", () => {
    const shallow = join(folder, "..", "shallow");
    const since = git("rev-parse", "HEAD~2");
    git("clone", "--quiet", "--depth", "1", `file://${folder}`, shallow);
    const unchecked = { problems: [], note: `no history since ${since.slice(0, 12)}` };
    expect(checkCommits({ folder: shallow, since })).toEqual(unchecked);
    const unknown = "0".repeat(40);
    expect(checkCommits({ folder, since: unknown })).toMatchObject({ problems: [] });
    expect(checkCommits({ folder: join(folder, ".."), since })).toEqual(unchecked);
  });
});
