// The house as it is, compared with its plan in import-table.ts.

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { delimiter, join, relative, sep } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { environmentReaders, packageLoaders, rootEntries, wireFiles } from "./import-table.ts";
import { importsOf } from "./source-imports.ts";
import { findViolations, isCode, lengthViolations, longFiles, type SourceFile } from "./violations.ts";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../..", import.meta.url));

async function readSources(folder: string): Promise<SourceFile[]> {
  const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Promise.all(
    paths.map(async (path) => ({
      path: relative(root, path).replaceAll(sep, "/"),
      text: /\.(tsx?|js|md)$/.test(path) ? await readFile(path, "utf8") : "",
    })),
  );
}

test("the house is built as drawn", async () => {
  const sources = await readSources("src");
  // An empty reading would find nothing wrong with anything.
  expect(sources.length).toBeGreaterThan(50);
  expect(sources.filter(isCode).flatMap(({ text }) => importsOf(text)).length).toBeGreaterThan(200);
  expect(findViolations(sources)).toEqual([]);
  const excepted = [...environmentReaders, ...packageLoaders, ...Object.keys(wireFiles)];
  expect(excepted.filter((path) => !sources.some((source) => source.path === path))).toEqual([]);
});

test("no test file has a second subject either", async () => {
  const tests = await readSources("test");
  expect(tests.length).toBeGreaterThan(100);
  const written = tests.filter(({ path }) => path.endsWith(".ts"));
  expect(written.flatMap(lengthViolations)).toEqual([]);
  const long = longFiles([...(await readSources("src")), ...written].filter(({ path }) => !path.endsWith(".md")));
  if (long.length > 0) process.stderr.write(`look for a second subject in ${long.join(", ")}\n`);
});

test("no helper of tests opens or closes anything on import", async () => {
  // Files share a process: a helper is loaded for the first one alone, and its hooks would be that one's.
  const hook = /^(?:before|after)(?:Each|All)\(/m;
  // Vitest runs its setup files again for each test file.
  const setUp = ["test/setup/answers/check-answers.ts", "test/setup/fresh-process.ts"];
  const [tests, helpers] = [[], []] as [SourceFile[], SourceFile[]];
  for (const file of await readSources("test")) (file.path.endsWith(".test.ts") ? tests : helpers).push(file);
  expect(tests.filter(({ text }) => hook.test(text)).length).toBeGreaterThan(10);
  expect(
    helpers
      .filter(({ text }) => hook.test(text))
      .map(({ path }) => path)
      .toSorted(),
  ).toEqual(setUp);
});

test("nothing lies in the root but what belongs there", async () => {
  const local = ["node_modules", "coverage"];
  const entries = (await readdir(root)).filter((name) => !name.startsWith(".") && !local.includes(name));
  expect(entries.filter((name) => !rootEntries.includes(name))).toEqual([]);
});

test("the dashboard is built by the Node that the machine has, too", async () => {
  // The first start installs a newer one, but the shell that does goes on with the one it has met.
  const folders = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => !folder.includes("node_modules"));
  const found = folders.map((folder) => join(folder, "node")).find((path) => existsSync(path));
  const built = run(found ?? process.execPath, [join(root, ".ci/build-dashboard.mjs")]);
  await expect(built).resolves.toEqual({ stdout: "", stderr: "" });
});
