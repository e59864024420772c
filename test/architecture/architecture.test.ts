// The house as it stands, held against its plan in import-table.ts.

import { readdir, readFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { rootEntries } from "./import-table.ts";
import { findViolations, importsOf, lengthViolations, type SourceFile } from "./violations.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

async function readSources(folder: string): Promise<SourceFile[]> {
  const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Promise.all(
    paths.map(async (path) => ({
      path: relative(root, path).replaceAll(sep, "/"),
      text: /\.(tsx?|md)$/.test(path) ? await readFile(path, "utf8") : "",
    })),
  );
}

test("the house is built as drawn", async () => {
  const sources = await readSources("src");
  // An empty reading would find nothing wrong with anything.
  expect(sources.length).toBeGreaterThan(50);
  expect(sources.flatMap(({ text }) => importsOf(text)).length).toBeGreaterThan(200);
  expect(findViolations(sources)).toEqual([]);
});

test("no test file has a second subject either", async () => {
  const tests = await readSources("test");
  expect(tests.length).toBeGreaterThan(100);
  expect(tests.filter(({ path }) => path.endsWith(".ts")).flatMap(lengthViolations)).toEqual([]);
});

test("nothing lies in the root but what belongs there", async () => {
  const local = ["node_modules", "coverage"];
  const entries = (await readdir(root)).filter((name) => !name.startsWith(".") && !local.includes(name));
  expect(entries.filter((name) => !rootEntries.includes(name))).toEqual([]);
});

test("no script uses Node in the line that installs it", async () => {
  const { scripts } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as {
    scripts: Record<string, string>;
  };
  const installing = Object.values(scripts).filter((line) => line.includes(".ci/install.mjs"));
  expect(installing.length).toBeGreaterThan(5);
  // A shell goes on with the Node that it has met, which is an older one until the install is done.
  expect(installing.filter((line) => !/^node \.ci\/install\.mjs( && npm run -s [a-z-]+)?$/.test(line))).toEqual([]);
});
