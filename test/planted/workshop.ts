// Plants a bug in a copy of the checkout and runs a test file there. The working tree is only read.

import { execFile, execFileSync } from "node:child_process";
import { cpSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import type { Edit, PlantedBug } from "./planted-bug.ts";

export const root = fileURLToPath(new URL("../..", import.meta.url));
/** A test file that has not ended by then noticed nothing. Several files have as much time each. */
const MOST_MS = 240_000;

/** The outcome of a test file: how many tests passed, and the names of those that failed. */
export type TestRun = {
  readonly passed: number;
  readonly failed: readonly string[];
  /** Those of the failed that met code that cannot run. */
  readonly broken: readonly string[];
  readonly output: string;
};

/** What is in a file, or would be with an edit made. Errors: where the text to find is not there exactly once. */
export function edited(text: string, { file, find, replace }: Edit): string {
  const found = Array.from(text.matchAll(layoutFree(find)));
  if (found.length !== 1) throw new Error(`${file} has ${found.length} times, and not once: ${find}`);
  return text.replace(layoutFree(find), () => replace);
}

/** Matches a text however it is laid out: with other spaces and line breaks, and with or without a comma at the end of a list. */
function layoutFree(text: string): RegExp {
  const tokens = text.match(/\w+|\W/g)?.filter((token) => token.trim() !== "") ?? [];
  const parts = tokens.map((token, index) => {
    const before = tokens[index - 1];
    const after = tokens[index + 1] ?? "";
    if (token === "," && isEnd(after)) return "";
    const sign = isName(token) ? token : `\\${token}`;
    if (before === undefined) return sign;
    const gap = isName(before) && isName(token) ? "\\s+" : "\\s*";
    return isEnd(token) ? `${gap},?\\s*${sign}` : gap + sign;
  });
  // A name is found whole: `at` is no part of `that`.
  const [start, end] = [isName(tokens[0] ?? "") ? "\\b" : "", isName(tokens.at(-1) ?? "") ? "\\b" : ""];
  return new RegExp(start + parts.join("") + end, "g");
}

const isName = (token: string): boolean => /^\w/.test(token);
const isEnd = (token: string): boolean => /^[)\]}]/.test(token);

/** Whether the tests noticed a bug: the one meant failed, and not by code that cannot run. Where no test ran, none has failed. */
export function hasNoticed({ noticedBy }: PlantedBug, { failed, broken }: TestRun): boolean {
  return failed.some((name) => name.includes(noticedBy.test) && !broken.includes(name));
}

/** How a failure begins that only shows that the edited code is no program. */
const CANNOT_RUN = /^(?:Reference|Syntax)Error\b/;

export class Workshop {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** Copies what git knows or would add. */
  static open(): Workshop {
    const folder = mkdtempSync(join(tmpdir(), "saldo-planted-"));
    const listed = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "-z"], {
      cwd: root,
      encoding: "utf8",
    });
    for (const path of new Set(listed.split("\0").filter(Boolean))) {
      // Links and files that are deleted, but not yet so in git, are left out.
      if (lstatSync(join(root, path), { throwIfNoEntry: false })?.isFile() !== true) continue;
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      cpSync(join(root, path), join(folder, path));
    }
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
    return new Workshop(folder);
  }

  /** Plants a bug for as long as its test file runs. */
  async runWith({ edits, noticedBy }: PlantedBug, config?: string): Promise<TestRun> {
    const files = [...new Set(edits.map(({ file }) => file))];
    const sound = new Map(files.map((file) => [file, readFileSync(join(this.#folder, file), "utf8")]));
    try {
      for (const [file, text] of sound) {
        const own = edits.filter((edit) => edit.file === file);
        writeFileSync(join(this.#folder, file), own.reduce(edited, text));
      }
      return await this.run([noticedBy.file], config);
    } finally {
      for (const [file, text] of sound) writeFileSync(join(this.#folder, file), text);
    }
  }

  /** Runs test files as they are. */
  async run(files: readonly string[], config = "test/vitest.config.ts"): Promise<TestRun> {
    const vitest = join("node_modules", "vitest", "vitest.mjs");
    const asked = ["run", "--config", config, "--reporter=json", "--outputFile=report.json", ...files];
    rmSync(join(this.#folder, "report.json"), { force: true });
    const output = await new Promise<string>((resolve) => {
      // A bug is noticed or not whatever server or seeds the environment names.
      const { DATABASE_URL: _server, SALDO_TEST_SEED: _seed, ...given } = process.env;
      const env = { ...given, ...(this.#isLongOnly(files) && { SALDO_LONG_TESTS: "1" }) };
      const options = { cwd: this.#folder, env, timeout: MOST_MS * files.length, maxBuffer: 64 * 1024 * 1024 };
      execFile(process.execPath, [vitest, ...asked], options, (_failed, stdout, stderr) => resolve(stdout + stderr));
    });
    return { ...this.#report(), output };
  }

  /** Whether this is one file that has no short form. */
  #isLongOnly([file, ...others]: readonly string[]): boolean {
    if (file === undefined || others.length > 0) return false;
    return readFileSync(join(this.#folder, file), "utf8").includes("describe.runIf(IS_LONG)");
  }

  close(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #report(): Omit<TestRun, "output"> {
    const report = JSON.parse(reportText(join(this.#folder, "report.json"))) as Report;
    const tests = report.testResults.flatMap(({ assertionResults }) => assertionResults);
    const failed = tests.filter(({ status }) => status === "failed");
    const broken = failed.filter(({ failureMessages }) => failureMessages.some((text) => CANNOT_RUN.test(text)));
    return {
      passed: tests.filter(({ status }) => status === "passed").length,
      failed: failed.map(({ fullName }) => fullName),
      broken: broken.map(({ fullName }) => fullName),
    };
  }
}

type Result = { readonly status: string; readonly fullName: string; readonly failureMessages: readonly string[] };
type Report = { readonly testResults: readonly { readonly assertionResults: readonly Result[] }[] };

/** A run that was ended, or that could not begin, leaves no report. */
function reportText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return '{"testResults":[]}';
  }
}
