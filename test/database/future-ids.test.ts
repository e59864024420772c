// The database refuses ids of a far future: no seal and no audit would cover their rows until that time has come.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DAY_MS } from "../../src/kernel/clock.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { sqlState } from "../../src/database/transactions.ts";
import { createTestDatabase, testBackends } from "../setup/test-database.ts";
import type { TestDatabase } from "../setup/test-database.ts";

const CHECK_VIOLATION = "23514";
const ACCOUNT = uuidv7();

/** Statements that write a row of an id. */
const WRITES: readonly (readonly [table: string, statement: (id: string) => string])[] = [
  [
    "hold",
    (id) => `INSERT INTO hold (account_id, id, owner, amount, key_id, model, input_price, output_price)
      VALUES ('${ACCOUNT}', '${id}', '${ACCOUNT}', 1, '${ACCOUNT}', 'demo/small', 1, 1)`,
  ],
  [
    "usage_record",
    (
      id,
    ) => `INSERT INTO usage_record (account_id, request_id, key_id, model, input_tokens_uncached, input_tokens_cached,
        output_tokens, input_price, output_price, cost, charge, basis, billing_day, streamed, duration_ms)
      VALUES ('${ACCOUNT}', '${id}', '${ACCOUNT}', 'demo/small', 1, 0, 1, 1, 1, 1, 1, 'exact', '2026-11-20', false, 1)`,
  ],
  [
    "posting",
    (id) => `INSERT INTO posting (account_id, id, group_id, asset, debit, credit, amount, reason)
      VALUES ('${ACCOUNT}', '${id}', '${id}', 'IDR/6', '00000000-0000-7000-8000-000000000004', '${ACCOUNT}', 5, 'test')`,
  ],
];

describe.each(testBackends())("an id of the future, on the %s server,", (backend) => {
  let opened: TestDatabase;
  beforeAll(async () => {
    opened = await createTestDatabase({ backend });
  });
  afterAll(() => opened.drop());

  const write = (statement: string): Promise<string | undefined> =>
    opened.database.pool.query(statement).then(() => "done", sqlState);

  test.each(WRITES)("is refused in %s, but for clocks that differ", async (_table, statement) => {
    const now = Date.now();
    expect(await write(statement(uuidv7(now + 1.02 * DAY_MS)))).toBe(CHECK_VIOLATION);
    expect(await write(statement(uuidv7(now + 400 * DAY_MS)))).toBe(CHECK_VIOLATION);
    expect(await write(statement(uuidv7(now + 0.98 * DAY_MS)))).toBe("done");
    expect(await write(statement(uuidv7(now - 400 * DAY_MS)))).toBe("done");
  });
});
