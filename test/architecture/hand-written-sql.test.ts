import { glob, readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { handWrittenSql } from "./hand-written-sql.ts";
import { hasSql } from "./sql-texts.ts";

const src = new URL("../../src/", import.meta.url).pathname;
const listed = Object.values(handWrittenSql).flat();

async function filesWithSql(): Promise<string[]> {
  const found: string[] = [];
  for await (const path of glob("**/*.ts", { cwd: src, exclude: ["dashboard", "database/entities"] })) {
    if (!path.endsWith(".test.ts") && hasSql(await readFile(src + path, "utf8"))) found.push(path);
  }
  return found;
}

test("SQL is written by hand in the listed files only, and each of them has some", async () => {
  expect((await filesWithSql()).toSorted((a, b) => (a < b ? -1 : 1))).toEqual(
    listed.toSorted((a, b) => (a < b ? -1 : 1)),
  );
});

test.each([
  "await client.query(TEXT)",
  "await pool.query<Row>(TEXT)",
  "const run = pool.query.bind(pool);",
  "await em.execute(TEXT);",
  "export const SUM = `SELECT sum(amount) FROM posting`;",
  'export const SUM = "select sum(amount) from posting";',
  "export const ALL = `WITH p AS (${PART}) SELECT id FROM p`;",
  'const DROP = "DELETE " + "FROM posting";',
])("a statement is found, and so is the call that runs one: %s", (text) => {
  expect(hasSql(text)).toBe(true);
});

test.each([
  "await em.findOne(Merchant, { id })",
  "// SELECT id FROM merchant",
  "// await client.query(TEXT)",
  'const HELP = "Select a merchant and update its name.";',
])("an entity manager, a comment and a sentence are none: %s", (text) => {
  expect(hasSql(text)).toBe(false);
});

test("the README of the entities names each reason", async () => {
  const readme = await readFile(`${src}database/entities/README.md`, "utf8");
  expect(Object.keys(handWrittenSql).filter((reason) => !readme.includes(reason))).toEqual([]);
});
