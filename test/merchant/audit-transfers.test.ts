import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Database } from "../../src/database/database.ts";
import { withTransaction } from "../../src/database/transactions.ts";
import { audit } from "../../src/ledger/audit/audit.ts";
import { systemAccounts } from "../../src/ledger/system-accounts.ts";
import { transferAudit } from "../../src/merchant/transfers/audit-transfers.ts";
import { moveTransfer } from "../../src/merchant/transfers/transfer-states.ts";
import { createTestDatabase, type TestDatabase } from "../setup/test-database.ts";
import { merchantWith, orderTransfer } from "./merchant-accounts.ts";

let testDatabase: TestDatabase;
let database: Database;
let owner: Client;
let open: string;
let confirmed: string;
let rejected: string;
let merchantId: string;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = testDatabase.database;
  owner = new Client(testDatabase.url);
  await owner.connect();
  ({ merchantId } = await merchantWith(database, { TRX: "1000" }));
  [open = "", confirmed = "", rejected = ""] = await Promise.all(
    [0, 1, 2].map(async () => (await orderTransfer(database, { merchantId })).transfer.transferId),
  );
  await withTransaction(database, async (client) => {
    const submitted = { transferId: confirmed, from: ["PENDING"], to: "SUBMITTED", transactionHash: "0xaa" } as const;
    await moveTransfer(client, submitted);
    await moveTransfer(client, { transferId: confirmed, from: ["SUBMITTED"], to: "CONFIRMED" });
    await moveTransfer(client, { transferId: rejected, from: ["PENDING"], to: "REJECTED" });
  });
});
afterAll(async () => {
  await owner.end();
  await testDatabase.drop();
});

/** The findings of an audit of transfers, in a full run and in an incremental one. */
async function findings(): Promise<string[]> {
  const runs = await Promise.all(
    (["full", "incremental"] as const).map((kind) => audit(database.pool, { kind, topics: [transferAudit] })),
  );
  return [...new Set(runs.flatMap(({ violations }) => violations.map(({ check }) => check)))];
}

test("an audit finds nothing where nothing is wrong", async () => {
  expect(await findings()).toEqual([]);
});

// Damage that the owner of the database can do, and its repair; the statements run in one session without triggers.
const posting = (leg: string): string => `(SELECT id FROM posting WHERE reference = 'transfer:' || $1 || ':${leg}')`;
const FEE_CHECK = "the fee of a transfer is that of its row of the fee schedule";
const OTHER_ROW = "01900000-0000-7000-8000-0000000000aa";
const DAMAGES: readonly (readonly [
  check: string,
  what: string,
  damage: (ids: { open: string; confirmed: string; rejected: string }) => readonly string[],
])[] = [
  [
    "what a fund holds is the total of its open transfers",
    "a hold that was not taken",
    () => ["UPDATE merchant_fund SET held = 0"],
  ],
  [
    "what a fund holds is the total of its open transfers",
    "an open transfer without its hold",
    ({ rejected: id }) => [`UPDATE transfer SET status = 'PENDING' WHERE id = '${id}'`],
  ],
  [
    "the last event of a transfer is its status",
    "a status without an event",
    ({ open: id }) => [`UPDATE transfer SET status = 'SUBMITTED' WHERE id = '${id}'`],
  ],
  [
    "a confirmed transfer is captured, and no other",
    "a capture that is gone",
    ({ confirmed: id }) => [`DELETE FROM posting WHERE id = ${posting("fee").replace("$1", `'${id}'`)}`],
  ],
  [
    "a confirmed transfer is captured, and no other",
    "a capture of another amount",
    ({ confirmed: id }) => [
      `UPDATE posting SET amount = amount + 1 WHERE id = ${posting("payout").replace("$1", `'${id}'`)}`,
    ],
  ],
  [
    "a confirmed transfer is captured, and no other",
    "a capture of a rejected transfer",
    ({ confirmed: id, rejected: other }) => [
      `UPDATE posting SET reference = 'transfer:${other}:fee' WHERE id = ${posting("fee").replace("$1", `'${id}'`)}`,
    ],
  ],
  [
    "payout clearing returns to zero",
    "a posting to it that no transfer made",
    () => [
      `INSERT INTO posting (account_id, id, group_id, asset, debit, credit, amount, reason)
       SELECT m.account_id, new_uuidv7(), new_uuidv7(), 'TRX/6', f.id, '${systemAccounts.payoutClearing}', 1, 'stray'
       FROM merchant_fund f JOIN merchant m ON m.id = f.merchant_id`,
    ],
  ],
  [
    "payout clearing returns to zero",
    "what came in and did not go out",
    ({ confirmed: id }) => [`DELETE FROM posting WHERE id = ${posting("sent").replace("$1", `'${id}'`)}`],
  ],
  [
    "a transfer belongs to the environment of its merchant",
    "a transfer of the other environment",
    ({ open: id }) => [`UPDATE transfer SET environment = 'production' WHERE id = '${id}'`],
  ],
  [
    "the database refuses what must never be of a transfer",
    "an externalId that two transfers may have",
    () => ["ALTER TABLE transfer DROP CONSTRAINT transfer_external_id"],
  ],
  [
    "total = received + fee",
    "a total that does not add up",
    ({ rejected: id }) => [
      "ALTER TABLE transfer DROP CONSTRAINT transfer_total",
      `UPDATE transfer SET total = total + 1 WHERE id = '${id}'`,
    ],
  ],
  [
    FEE_CHECK,
    "a fee below that of its row",
    ({ rejected: id }) => [`UPDATE transfer SET fee = fee - 1, total = total - 1 WHERE id = '${id}'`],
  ],
  [
    FEE_CHECK,
    "a sandbox fee above that of its row",
    ({ rejected: id }) => [`UPDATE transfer SET fee = fee + 1, total = total + 1 WHERE id = '${id}'`],
  ],
  [
    FEE_CHECK,
    "a row that came after the transfer",
    ({ rejected: id }) => [`UPDATE transfer SET created_at = created_at - interval '1 hour' WHERE id = '${id}'`],
  ],
  [
    FEE_CHECK,
    "a row of all merchants where the merchant has an own one",
    () => [
      `INSERT INTO fee_schedule (id, merchant_id, version, flat, rate, created_at)
       SELECT new_uuidv7(), id, 1, '0', '0.3', now() - interval '11 minutes' FROM merchant`,
    ],
  ],
  [
    FEE_CHECK,
    "a row of another currency",
    ({ rejected: id }) => [
      `INSERT INTO fee_schedule (id, currency_code, version, flat, rate) VALUES ('${OTHER_ROW}', 'BTC', 1, '0', '0.3')`,
      `UPDATE transfer SET fee_id = '${OTHER_ROW}' WHERE id = '${id}'`,
    ],
  ],
  [
    "no transfer is forgotten and no event of one changed",
    "events that can be changed",
    () => ["ALTER TABLE transfer_event DISABLE TRIGGER append_only"],
  ],
];

describe("an audit finds", () => {
  test.each(DAMAGES)("%s: %s", async (check, _what, damage) => {
    // The audit reads through connections of its own, so the damage is committed, and mended from a copy of the tables.
    const tables = ["merchant_fund", "fee_schedule", "transfer", "transfer_event", "posting"];
    await owner.query("SET session_replication_role = replica");
    for (const table of tables) await owner.query(`CREATE TABLE copy_of_${table} AS TABLE ${table}`);
    await owner.query("ALTER TABLE posting DISABLE TRIGGER append_only");
    try {
      for (const statement of damage({ open, confirmed, rejected })) await owner.query(statement);
      await owner.query("ALTER TABLE posting ENABLE ALWAYS TRIGGER append_only");
      expect(await findings()).toContain(check);
    } finally {
      await mend(tables);
    }
    expect(await findings()).toEqual([]);
  });
});

async function mend(tables: readonly string[]): Promise<void> {
  const protectedTables = ["transfer", "transfer_event", "posting"];
  for (const table of protectedTables) await owner.query(`ALTER TABLE ${table} DISABLE TRIGGER USER`);
  for (const table of tables) {
    await owner.query(`DELETE FROM ${table}`);
    await owner.query(`INSERT INTO ${table} SELECT * FROM copy_of_${table}`);
    await owner.query(`DROP TABLE copy_of_${table}`);
  }
  for (const table of protectedTables) {
    await owner.query(`ALTER TABLE ${table} ENABLE ALWAYS TRIGGER append_only`);
    await owner.query(`ALTER TABLE ${table} ENABLE ALWAYS TRIGGER append_only_truncate`);
  }
  await owner.query(`ALTER TABLE transfer DROP CONSTRAINT IF EXISTS transfer_external_id`);
  await owner.query(
    `ALTER TABLE transfer ADD CONSTRAINT transfer_external_id UNIQUE (merchant_id, environment, external_id)`,
  );
  await owner.query(`ALTER TABLE transfer DROP CONSTRAINT IF EXISTS transfer_total`);
  await owner.query(`ALTER TABLE transfer ADD CONSTRAINT transfer_total CHECK (total = received + fee)`);
}
