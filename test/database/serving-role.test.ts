import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestDatabase, testBackends } from "../setup/test-database.ts";
import type { TestDatabase } from "../setup/test-database.ts";

describe.each(testBackends())("the serving role on the %s server", (backend) => {
  let opened: TestDatabase;
  beforeAll(async () => {
    opened = await createTestDatabase({ backend });
  });
  afterAll(() => opened.drop());

  test("works as saldo_serve with the planner forced onto the keys", async () => {
    const { rows } = await opened.database.pool.query(
      "SELECT current_user AS role, current_setting('enable_seqscan') AS scan",
    );
    expect(rows).toEqual([{ role: "saldo_serve", scan: "off" }]);
  });
});
