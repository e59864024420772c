// Books that were made again on the same server, as pg_restore does: its system identifier and timeline stay as they were.

import { expect, test } from "vitest";
import { isSameHistory, readHistory } from "../../src/database/history.ts";
import { createTestDatabase } from "../setup/test-database.ts";
import { onServer } from "../setup/test-servers.ts";

test("a history is another one in a copy of the database, and where its tables were made again", async () => {
  const [one, other] = await Promise.all([createTestDatabase(), createTestDatabase()]);
  try {
    const { pool } = one.database;
    const [before, copied] = [await readHistory(pool), await readHistory(other.database.pool)];
    if (before === null || copied === null) throw new Error("a test server is a primary");
    expect({ ...copied, books: null }).toEqual({ ...before, books: null });
    expect([isSameHistory(before, copied), isSameHistory(before, { ...copied, books: null })]).toEqual([false, true]);
    expect(await readHistory(pool)).toEqual(before);
    await onServer(one.url, "ALTER TABLE wallet RENAME TO former_wallet; CREATE TABLE wallet (LIKE former_wallet)");
    const made = await readHistory(pool);
    expect(made).toEqual({ ...before, books: expect.not.stringMatching(`^${before.books}$`) });
    expect(isSameHistory(before, made ?? before)).toBe(false);
  } finally {
    await Promise.all([one.drop(), other.drop()]);
  }
});
