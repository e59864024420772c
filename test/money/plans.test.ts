// Statements are planned once, while the tables are empty, and run for as long as the connection lives. So: plan them on an empty
// database, let it grow without an ANALYZE, and check that they still read by keys.

import type pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { admissionStatement } from "../../src/ledger/group-commit/admission.ts";
import { extensionStatement } from "../../src/ledger/group-commit/extension.ts";
import type { Waiting } from "../../src/ledger/group-commit/lane-queue.ts";
import { transactionOf } from "../../src/ledger/group-commit/lane-transaction.ts";
import { settlementStatement } from "../../src/ledger/group-commit/settlement.ts";
import type { PipelinedStatement } from "../../src/ledger/group-commit/statement-pipeline.ts";
import { testBackends } from "../setup/test-database.ts";
import { admission, MoneySetup, settlement, type TestProcess } from "./money-setup.ts";

const GROWN = 20_000;
const GROW = `
INSERT INTO account (id, posted) SELECT gen_random_uuid(), 1000000 FROM generate_series(1, ${GROWN});
INSERT INTO api_key (account_id, id, digest, name, prefix, last_four)
  SELECT id, gen_random_uuid(), uuid_send(id), 'n', 'gw_', 'xxxx' FROM account;
ALTER TABLE account DISABLE TRIGGER USER;
INSERT INTO hold (account_id, id, owner, amount, key_id, model, input_price, output_price)
  SELECT account_id, new_uuidv7(), gen_random_uuid(), 0, id, 'm', 1, 1 FROM api_key`;

/** The rows of a table that one transaction has read, by the server's own count. */
const READ = `
SELECT relname AS table, seq_scan::int AS seq_scans, coalesce(idx_tup_fetch, 0)::int AS by_index FROM pg_stat_xact_user_tables
WHERE seq_scan > 0 OR idx_tup_fetch > 0`;
type Read = { table: string; seq_scans: number; by_index: number };

/** The statements a lane sends for these. */
function sentFor(kinds: readonly { statement: Waiting["statement"]; members: readonly Waiting["member"][] }[]) {
  const groups = kinds.map(({ statement, members }) => members.map((member) => ({ statement, member }) as Waiting));
  return transactionOf(groups).statements;
}

describe.each(testBackends())("money statements on a grown %s database", (backend) => {
  let setup: MoneySetup;
  let process: TestProcess;
  let members: { accountId: string; keyId: string }[];
  beforeAll(async () => {
    setup = await MoneySetup.create(backend);
    process = await setup.process();
    members = [];
    for (let index = 0; index < 8; index += 1) {
      const accountId = await setup.account(1_000_000n);
      members.push({ accountId, keyId: await setup.key(accountId, 60) });
    }
  });
  afterAll(() => setup.close());

  /** Runs statements in one transaction and returns the rows read of each table. */
  async function run(client: pg.Client, sent: readonly PipelinedStatement[]): Promise<Read[]> {
    await client.query("BEGIN");
    for (const { name, text, values } of sent) await client.query({ name, text, values: [...values] });
    const { rows } = await client.query<Read>(READ);
    await client.query("COMMIT");
    return rows;
  }

  /** The statements of a request's life, for new requests of the same accounts. */
  function statements(): (readonly PipelinedStatement[])[] {
    const requests = members.map(({ accountId, keyId }) => ({
      ...admission(accountId, keyId, 10n),
      owner: process.lease.processId,
    }));
    const settlements = requests.map(({ accountId, requestId }) => settlement(accountId, requestId, 0));
    const extensions = requests.map(({ accountId, requestId, amount }) => {
      const progress = { inputTokens: 1, outputTokens: 1 };
      return { accountId, requestId, amount, leastAmount: amount, ...progress };
    });
    const one = <Member>([first]: readonly Member[]): Member[] => (first === undefined ? [] : [first]);
    return [
      sentFor([{ statement: admissionStatement, members: one(requests) }]),
      sentFor([{ statement: extensionStatement, members: one(extensions) }]),
      sentFor([{ statement: settlementStatement, members: one(settlements) }]),
      sentFor([{ statement: admissionStatement, members: requests.slice(1) }]),
      sentFor([
        { statement: settlementStatement, members: settlements.slice(1) },
        { statement: extensionStatement, members: extensions.slice(1) },
      ]),
    ];
  }

  it("are run by the keys, alone and in groups", async () => {
    const client = await process.database.connect();
    for (const sent of statements()) await run(client, sent); // plans them, for as long as the connection lives
    await setup.asOwner(GROW);
    for (const sent of statements()) {
      const reads = await run(client, sent);
      expect(reads.map(({ table }) => table)).toContain("account");
      for (const read of reads) {
        // A scan of a whole index would read all its rows.
        expect(read, sent.map(({ name }) => name).join()).toMatchObject({ seq_scans: 0 });
        expect(read.by_index, `rows of ${read.table}`).toBeLessThan(200);
      }
    }
    await client.end();
  });
});
