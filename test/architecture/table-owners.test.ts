import { glob, readFile } from "node:fs/promises";
import { basename } from "node:path";
import { expect, test } from "vitest";
import { INSERTED, literalsOf } from "./source-tokens.ts";
import { sqlOf, tableUses } from "./sql-texts.ts";
import { functionOwners, grants, insertedTables, tableOwners } from "./table-owners.ts";

const src = new URL("../../src/", import.meta.url).pathname;
const schema = await readFile(`${src}database/schema.sql`, "utf8");
const ownerOf = new Map(Object.entries(tableOwners).flatMap(([room, tables]) => tables.map((table) => [table, room])));

type Use = { readonly path: string; readonly table: string; readonly isChanged: boolean };

/** Tables by the names of their entities. */
const tableOfEntity = new Map<string, string>();
for await (const path of glob("database/entities/*.ts", { cwd: src })) {
  const entity = /defineEntity\(\{\s*name: "(\w+)",\s*tableName: "(\w+)",(?:\s*schema: "(\w+)")?/g;
  for (const [, name = "", table = "", of] of (await readFile(src + path, "utf8")).matchAll(entity)) {
    tableOfEntity.set(name, of === undefined ? table : `${of}.${table}`);
  }
}

const ENTITIES = /const \{([^}]*)\} = await entitiesOn\(/g;
const ROWS = /\binsert\(client, "([a-z_]+)"/g;
const ENTITY_CHANGE =
  /\b(?:native(?:Update|Delete)|insert(?:Many)?|upsert(?:Many)?|create|assign|remove|createQueryBuilder)\(\s*(\w+)/g;

function withoutComments(text: string): string {
  return text.replaceAll(/^\s*(?:\/\/|\*|\/\*|--).*$/gm, "");
}

/** The tables that a text names, in SQL or by their entities. */
function tablesOf(path: string, text: string): Omit<Use, "path">[] {
  const code = withoutComments(text);
  const uses = sqlOf(path, text).flatMap(tableUses);
  const rows = [...code.matchAll(ROWS)].map(([, table = ""]) => ({ table, isChanged: true }));
  // Where a statement gets its table from elsewhere, a text that is the name of a table alone is one of them.
  const places = uses.filter(({ table }) => table === INSERTED);
  const isChanged = places.some((place) => place.isChanged);
  const inserted = places.length > 0 ? literalsOf(text).map((table) => ({ table, isChanged })) : [];
  const changed = new Set([...code.matchAll(ENTITY_CHANGE)].map(([, name]) => name));
  const entities = [...code.matchAll(ENTITIES)].flatMap(([, names = ""]) =>
    names.split(",").flatMap((each) => {
      const name = each.trim();
      const table = tableOfEntity.get(name);
      return table === undefined ? [] : [{ table, isChanged: changed.has(name) }];
    }),
  );
  return [...uses, ...rows, ...inserted, ...entities].filter(({ table }) => ownerOf.has(table));
}

/** Whether the entities are asked for in another way than one that names them. */
function hidesEntities(text: string): boolean {
  const code = withoutComments(text);
  const calls = code.match(/(?<!function )\bentitiesOn\(/g)?.length ?? 0;
  return calls !== [...code.matchAll(ENTITIES)].length;
}

function roomOf(path: string): string {
  if (!path.startsWith("database/functions/")) return path.split("/")[0] ?? "";
  return functionOwners[basename(path, ".sql")] ?? "ledger";
}

/** Uses of tables of other rooms, each table once; changed: by any of them. */
function foreignUses(path: string, text: string): Use[] {
  const uses = tablesOf(path, text).filter(({ table }) => ownerOf.get(table) !== roomOf(path));
  return [...new Set(uses.map(({ table }) => table))].map((table) => ({
    path,
    table,
    isChanged: uses.some((use) => use.table === table && use.isChanged),
  }));
}

const isGranted =
  ({ path, table, isChanged }: Use) =>
  (grant: (typeof grants)[number]) =>
    path.startsWith(grant.files) && grant.tables.includes(table) && !(isChanged && grant.access === "read");

/** The sources that name tables, by their paths below `src/`. */
const sources = new Map<string, string>();
const exclude = ["dashboard", "database/entities"];
for await (const path of glob(["**/*.ts", "database/functions/*.sql"], { cwd: src, exclude })) {
  if (!path.endsWith(".test.ts")) sources.set(path, await readFile(src + path, "utf8"));
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

test("a file names tables of its own room, or those of a grant", () => {
  const uses = [...sources].flatMap(([path, text]) => foreignUses(path, text));
  expect(uses.length).toBeGreaterThan(20);
  expect(uses.filter((use) => !grants.some(isGranted(use)))).toEqual([]);
  const unused = grants.flatMap((grant) =>
    grant.tables
      .filter((table) => !uses.some((use) => use.table === table && isGranted(use)(grant)))
      .map((table) => `${grant.files} ${table}`),
  );
  expect(unused).toEqual([]);
});

test("a statement gets its table from elsewhere in the listed files only", () => {
  const found = [...sources].filter(([path, text]) =>
    sqlOf(path, text)
      .flatMap(tableUses)
      .some(({ table }) => table === INSERTED),
  );
  expect(found.map(([path]) => path).toSorted()).toEqual(Object.keys(insertedTables).toSorted());
});

test("a file that asks for entities names them", () => {
  expect([...sources].filter(([, text]) => hidesEntities(text)).map(([path]) => path)).toEqual([]);
  expect(hidesEntities("const all = await entitiesOn(pool);\nall.em.find(all.Account, {});")).toBe(true);
});

test("a statement on a foreign table is found, and one on an own table or in prose is not", () => {
  const use = (table: string, isChanged: boolean): Use[] => [{ path: "merchant/store.ts", table, isChanged }];
  const found = (text: string): Use[] => foreignUses("merchant/store.ts", text);
  const statement = "const A = `UPDATE posting SET amount = 0`;";
  expect(found(statement)).toEqual(use("posting", true));
  expect(foreignUses("ledger/postings.ts", statement)).toEqual([]);
  expect(found("// UPDATE posting SET amount = 0")).toEqual([]);
  expect(foreignUses("keys/store.ts", '"SELECT FROM auth.session JOIN account a"')).toHaveLength(2);
  const entity = "const { em, Account, ApiKey } = await entitiesOn(pool);";
  expect(foreignUses("keys/store.ts", entity)).toEqual([{ path: "keys/store.ts", table: "account", isChanged: false }]);
  const change = "await em.nativeUpdate(Account, { id }, { keepsAnswers });";
  expect(found(`${entity}\n${change}`)).toContainEqual(use("account", true)[0]);
});

test.each([
  ['"select posted from posting where id = $1"', "posting", false],
  ['`SELECT FROM "posting" p`', "posting", false],
  ["`SELECT FROM transfer t, posting p WHERE p.id = t.id`", "posting", false],
  ["`SELECT FROM transfer t JOIN payout y ON (y.id = t.id), posting p`", "posting", false],
  ["`SELECT FROM usage_record_2026_11`", "usage_record", false],
  ["`SELECT FROM usage_record_${month}`", "usage_record", false],
  ['const T = "posting";\nconst A = `SELECT FROM ${T} WHERE true`', "posting", false],
  ["`LOCK ONLY posting`", "posting", false],
  ["`COPY posting TO STDOUT`", "posting", false],
  ["`COPY posting (id) FROM STDIN`", "posting", true],
  ["`TRUNCATE transfer, posting`", "posting", true],
  ["`delete from public.posting using transfer t`", "posting", true],
  ["`MERGE INTO posting USING transfer ON true`", "posting", true],
  ['"INSERT INTO " + "posting (id) VALUES ($1)"', "posting", true],
])("a table is found however it is named: %s", (text, table, isChanged) => {
  expect(foreignUses("merchant/store.ts", text)).toEqual([{ path: "merchant/store.ts", table, isChanged }]);
});

test("a grant to read is none to change", () => {
  const read = grants.find(({ access }) => access === "read");
  expect(read).toBeDefined();
  const use = { path: `${read?.files}x.ts`, table: read?.tables[0] ?? "" };
  expect(grants.some(isGranted({ ...use, isChanged: false }))).toBe(true);
  expect(grants.some(isGranted({ ...use, isChanged: true }))).toBe(false);
});
