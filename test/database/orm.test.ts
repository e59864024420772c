// The entity manager on the service's own connections: texts that look like SQL, errors, and rows that others write.

import { afterAll, beforeAll, expect, test } from "vitest";
import { entitiesOn } from "../../src/database/orm.ts";
import { sqlState, sqlStates, withTransaction } from "../../src/database/transactions.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { createTestDatabase, type TestDatabase } from "../setup/test-database.ts";

const HOSTILE = `why? ?? ??? 'it''s' \\ \\' \\\\' :name $1 $$ "?" {} \n -- /* é`;

let opened: TestDatabase;
beforeAll(async () => {
  opened = await createTestDatabase();
});
afterAll(() => opened.drop());

test("writes and finds any text as it is, also in JSON", async () => {
  const { pool } = opened.database;
  const { em, CatalogChange, raw } = await entitiesOn(pool);
  const id = uuidv7();
  await em.insert(CatalogChange, {
    id,
    subject: HOSTILE,
    change: "changed",
    before: { [HOSTILE]: HOSTILE },
    after: null,
  });
  const stored = `SELECT subject, before, after IS NULL AS "isNull" FROM catalog_change WHERE id = $1`;
  expect((await pool.query(stored, [id])).rows).toEqual([
    { subject: HOSTILE, before: { [HOSTILE]: HOSTILE }, isNull: true },
  ]);
  const where = { subject: HOSTILE, [raw("position(? in subject)", [HOSTILE])]: 1 };
  expect(await em.findOne(CatalogChange, where)).toMatchObject({ id, before: { [HOSTILE]: HOSTILE }, after: null });
});

test("keeps the state of an error that the database raised", async () => {
  const failure = await withTransaction(opened.database, async (client) => {
    const { em, CatalogVersion } = await entitiesOn(client);
    for (let times = 0; times < 2; times += 1) await em.insert(CatalogVersion, { number: 1, operator: "o", yaml: "" });
  }).catch((error: unknown) => error);
  expect(sqlState(failure)).toBe(sqlStates.uniqueViolation);
  const { em, CatalogVersion } = await entitiesOn(opened.database.pool);
  expect(await em.findOne(CatalogVersion, { number: 1 })).toBeNull();
});
