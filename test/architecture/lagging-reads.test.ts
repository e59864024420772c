// What may be read from a standby, which lags: nothing that decides about money or access. So the places are listed.

import { glob, readFile } from "node:fs/promises";
import { expect, test } from "vitest";

const src = new URL("../../src/", import.meta.url).pathname;

/** Files that begin such a read, with how many each has and what of. */
const BEGINNING: ReadonlyMap<string, readonly [places: number, what: string]> = new Map([
  ["billing/service.ts", [4, "the list and the sums of usage, and both files"]],
  ["commands/margin.ts", [1, "the margin"]],
  ["operator/rpc/ledger-service.ts", [1, "the margin"]],
]);

/** Files whose reads take such a source. */
const READING: readonly string[] = [
  "billing/usage/ledger-export.ts",
  "billing/usage/margin.ts",
  "billing/usage/summary.ts",
  "billing/usage/usage-export.ts",
  "billing/usage/usage.ts",
  "database/throttled-reader.ts",
];

const sources = new Map<string, string>();
for await (const path of glob("**/*.ts", { cwd: src, exclude: ["dashboard"] })) {
  if (!path.endsWith(".test.ts") && path !== "database/lagging-reads.ts")
    sources.set(path, await readFile(src + path, "utf8"));
}
const filesWith = (form: RegExp) => [...sources].filter(([, text]) => form.test(text)).map(([path]) => path);

test("reads that may lag begin in the listed places", () => {
  const found = [...sources].flatMap(([path, text]) => {
    const places = text.match(/\breads\.beginRead\(/g)?.length ?? 0;
    return places === 0 ? [] : [[path, places] as const];
  });
  expect(new Map(found)).toEqual(new Map([...BEGINNING].map(([path, [places]]) => [path, places])));
  expect(filesWith(/\.beginRead\(/).toSorted()).toEqual([...BEGINNING.keys()].toSorted());
});

test("reads that may lag are taken by the listed files", () => {
  expect(filesWith(/\bReadSource\b(?!Log)/).toSorted()).toEqual([...READING].toSorted());
});
