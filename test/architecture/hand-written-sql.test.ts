import { glob, readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { handWrittenSql } from "./hand-written-sql.ts";

const src = new URL("../../src/", import.meta.url).pathname;
const listed = Object.values(handWrittenSql).flat();

/** Whether a text runs a statement on a pool or client. */
function runsSql(text: string): boolean {
  return /\.query\s*[(<]/.test(text);
}

async function filesWithSql(): Promise<string[]> {
  const found: string[] = [];
  for await (const path of glob("**/*.ts", { cwd: src, exclude: ["dashboard"] })) {
    if (!path.endsWith(".test.ts") && runsSql(await readFile(src + path, "utf8"))) found.push(path);
  }
  return found;
}

test("SQL is written by hand in the listed files only, and each of them has some", async () => {
  expect((await filesWithSql()).toSorted((a, b) => (a < b ? -1 : 1))).toEqual(
    listed.toSorted((a, b) => (a < b ? -1 : 1)),
  );
});

test("a statement on a client is found, however it is typed", () => {
  expect(runsSql("await client.query(TEXT)")).toBe(true);
  expect(runsSql("await pool.query<Row>(TEXT)")).toBe(true);
  expect(runsSql("await em.findOne(Merchant, { id })")).toBe(false);
});

test("the README of the entities names each reason", async () => {
  const readme = await readFile(`${src}database/entities/README.md`, "utf8");
  expect(Object.keys(handWrittenSql).filter((reason) => !readme.includes(reason))).toEqual([]);
});
