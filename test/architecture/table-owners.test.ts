import { glob, readFile } from "node:fs/promises";
import { basename } from "node:path";
import { expect, test } from "vitest";
import { functionOwners, grants, tableOwners } from "./table-owners.ts";

const src = new URL("../../src/", import.meta.url).pathname;
const schema = await readFile(`${src}database/schema.sql`, "utf8");
const ownerOf = new Map(Object.entries(tableOwners).flatMap(([room, tables]) => tables.map((table) => [table, room])));

type Use = { readonly path: string; readonly table: string };

/** Tables by the names of their entities. */
const tableOfEntity = new Map<string, string>();
for await (const path of glob("database/entities/*.ts", { cwd: src })) {
  const entity = /defineEntity\(\{\s*name: "(\w+)",\s*tableName: "(\w+)",(?:\s*schema: "(\w+)")?/g;
  for (const [, name = "", table = "", of] of (await readFile(src + path, "utf8")).matchAll(entity)) {
    tableOfEntity.set(name, of === undefined ? table : `${of}.${table}`);
  }
}

/** The tables that a text names, in SQL or by their entities. */
function tablesOf(text: string): string[] {
  const code = text.replaceAll(/^\s*(?:\/\/|\*|\/\*|--).*$/gm, "");
  const sql = /\b(?:FROM|JOIN|INTO|UPDATE|TABLE|USING)\s+(?:ONLY\s+)?(?:public\.)?((?:auth\.)?[a-z_]+)\b/g;
  const rows = /\binsert\(client, "([a-z_]+)"/g;
  const entities = /const \{([^}]*)\} = await entitiesOn/g;
  return [
    ...[...code.matchAll(sql), ...code.matchAll(rows)].map(([, table = ""]) => table),
    ...[...code.matchAll(entities)].flatMap(([, names = ""]) =>
      names.split(",").flatMap((name) => tableOfEntity.get(name.trim()) ?? []),
    ),
  ].filter((table) => ownerOf.has(table));
}

function roomOf(path: string): string {
  if (!path.startsWith("database/functions/")) return path.split("/")[0] ?? "";
  return functionOwners[basename(path, ".sql")] ?? "ledger";
}

/** Uses of tables of other rooms. */
function foreignUses(path: string, text: string): Use[] {
  return [...new Set(tablesOf(text))]
    .filter((table) => ownerOf.get(table) !== roomOf(path))
    .map((table) => ({ path, table }));
}

const isGranted =
  ({ path, table }: Use) =>
  (grant: (typeof grants)[number]) =>
    path.startsWith(grant.files) && grant.tables.includes(table);

async function allForeignUses(): Promise<Use[]> {
  const found: Use[] = [];
  const files = glob(["**/*.ts", "database/functions/*.sql"], {
    cwd: src,
    exclude: ["dashboard", "database/entities"],
  });
  for await (const path of files) {
    if (!path.endsWith(".test.ts")) found.push(...foreignUses(path, await readFile(src + path, "utf8")));
  }
  return found;
}

test("every table has one owner and one entity, and every owned table is there", () => {
  const created = [...schema.matchAll(/^CREATE (?:UNLOGGED )?(?:TABLE|VIEW) ((?:auth\.)?[a-z_]+)/gm)].map(
    ([, name]) => name,
  );
  expect(created.length).toBeGreaterThan(60);
  const owned = Object.values(tableOwners).flat();
  expect(new Set(owned)).toEqual(new Set(created));
  expect(owned).toHaveLength(created.length);
  expect(tableOfEntity.size).toBeGreaterThan(60);
});

test("a file names tables of its own room, or those of a grant", async () => {
  const uses = await allForeignUses();
  expect(uses.length).toBeGreaterThan(20);
  expect(uses.filter((use) => !grants.some(isGranted(use)))).toEqual([]);
  const unused = grants.flatMap((grant) =>
    grant.tables
      .filter((table) => !uses.some((use) => use.table === table && isGranted(use)(grant)))
      .map((table) => `${grant.files} ${table}`),
  );
  expect(unused).toEqual([]);
});

test("a statement on a foreign table is found, and one on an own table or in prose is not", () => {
  const statement = "const A = `UPDATE posting SET amount = 0`;";
  expect(foreignUses("merchant/merchants/store.ts", statement)).toEqual([
    { path: "merchant/merchants/store.ts", table: "posting" },
  ]);
  expect(foreignUses("ledger/postings.ts", statement)).toEqual([]);
  expect(foreignUses("merchant/merchants/store.ts", "// UPDATE posting SET amount = 0")).toEqual([]);
  expect(foreignUses("keys/store.ts", "SELECT FROM auth.session JOIN account a")).toHaveLength(2);
  const entity = "const { em, Account, ApiKey } = await entitiesOn(pool);";
  expect(foreignUses("keys/store.ts", entity)).toEqual([{ path: "keys/store.ts", table: "account" }]);
});
