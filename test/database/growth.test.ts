import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";

const read = (file: string) => readFile(new URL(`../../src/database/${file}`, import.meta.url), "utf8");

test("the list of what grows names every table, each once, and no others", async () => {
  const tables = Array.from(
    (await read("schema.sql")).matchAll(/^CREATE (?:UNLOGGED )?TABLE (\S+) /gm),
    ([, name = ""]) => name,
  );
  expect(tables.length).toBeGreaterThan(60);
  const text = await read("GROWTH.md");
  const lists = text.slice(text.indexOf("## Kept for ever"), text.indexOf("## Vacuum"));
  const named = Array.from(lists.matchAll(/`([a-z_]+(?:\.[a-z_]+)?)`/g), ([, name = ""]) => name);
  const byName = (a: string, b: string): number => (a < b ? -1 : 1);
  expect(named.filter((name) => name !== "saldo_database_bytes").toSorted(byName)).toEqual(tables.toSorted(byName));
});
