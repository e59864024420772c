// What the audit of payouts finds: each damage is done by the owner of the database, looked at, and rolled back.

import { Client, type QueryResultRow } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AuditFindings, inOneStatement, type Violation } from "../../../src/ledger/audit/findings.ts";
import { payoutAudit } from "../../../src/merchant/payouts/audit-payouts.ts";
import { BLOCK_MS, createSandboxChain } from "../../../src/merchant/chains/sandbox/sandbox-chain.ts";
import { PayoutEngine } from "../../../src/merchant/payouts/payout-engine.ts";
import { createTestDatabase, type TestDatabase } from "../../setup/test-database.ts";
import { OrderingMerchant } from "./ordered.ts";

/** Of which payout a statement is. */
const payout = (state: string): string => `(SELECT id FROM payout WHERE state = '${state}')`;
const transfer = (state: string): string => `(SELECT transfer_id FROM payout WHERE state = '${state}')`;
const FREE = ["payout", "payout_attempt", "transfer"].map((table) => `ALTER TABLE ${table} DISABLE TRIGGER USER`);

/** Bytes of the sandbox that pay something else, with their own hash wherever the books have it. */
const forged = (own: string, other: string): readonly string[] => [
  ...FREE,
  `CREATE TEMPORARY TABLE forged ON COMMIT DROP AS
   SELECT a.payout_id, a.number, a.hash AS old, f.raw, '0x' || encode(sha256(convert_to(f.raw, 'UTF8')), 'hex') AS hash
   FROM payout_attempt a CROSS JOIN LATERAL (
     SELECT encode(convert_to(replace(convert_from(decode(a.raw, 'hex'), 'UTF8'), '${own}', '${other}'), 'UTF8'), 'hex') AS raw) f
   WHERE a.payout_id = ${payout("confirmed")}`,
  `UPDATE payout_attempt a SET raw = f.raw, hash = f.hash FROM forged f WHERE (a.payout_id, a.number) = (f.payout_id, f.number)`,
  `UPDATE payout p SET final_hash = f.hash FROM forged f WHERE p.final_hash = f.old`,
  `UPDATE transfer t SET transaction_hash = f.hash FROM forged f WHERE t.transaction_hash = f.old`,
];

const DAMAGES: readonly (readonly [check: string, what: string, ...damage: string[]])[] = [
  ["the nonces of a wallet have no gap", "a nonce that was skipped", "UPDATE wallet SET next_nonce = next_nonce + 1"],
  [
    "the nonces of a wallet have no gap",
    "a payout that is gone",
    ...FREE,
    `DELETE FROM payout_attempt WHERE payout_id = ${payout("filled")}`,
    `DELETE FROM payout WHERE state = 'filled'`,
  ],
  [
    "a nonce has one final effect",
    "an end without a final transaction",
    `UPDATE payout_attempt SET state = 'mined' WHERE payout_id = ${payout("confirmed")} AND state = 'final'`,
  ],
  [
    "a nonce has one final effect",
    "a lost nonce that one of our own transactions has",
    `UPDATE payout SET state = 'displaced' WHERE state = 'confirmed'`,
  ],
  [
    "a nonce has one final effect",
    "a filler that counts as a payment",
    `UPDATE payout SET state = 'reverted' WHERE state = 'filled'`,
  ],
  [
    "a transfer agrees with its payout",
    "funds that were given back although the chain has paid",
    ...FREE,
    `UPDATE transfer SET status = 'REJECTED', confirmed_at = NULL WHERE id = ${transfer("confirmed")}`,
  ],
  [
    "a transfer agrees with its payout",
    "a transfer that names another transaction",
    ...FREE,
    `UPDATE transfer SET transaction_hash = '0xother' WHERE id = ${transfer("confirmed")}`,
  ],
  [
    "a confirmed transfer was paid once",
    "a transfer that nothing has paid",
    ...FREE,
    `UPDATE transfer SET status = 'CONFIRMED', confirmed_at = now(), transaction_hash = 'x' WHERE id = ${transfer("filled")}`,
  ],
  [
    "an open payout belongs to an open transfer",
    "a transfer that was canceled while its payment is on its way",
    ...FREE,
    `UPDATE transfer SET status = 'CANCELED' WHERE id = ${transfer("broadcast")}`,
  ],
  [
    "every attempt of a payout is stored",
    "a signed transaction that is gone",
    ...FREE,
    `DELETE FROM payout_attempt WHERE payout_id = ${payout("broadcast")}`,
  ],
  ["what was signed pays its transfer", "bytes that pay somebody else", ...forged("TReceiver", "TStranger")],
  ["what was signed pays its transfer", "bytes that pay more", ...forged(`"units":"1000000"`, `"units":"9000000"`)],
  ["what was signed pays its transfer", "bytes of another nonce", ...forged(`"nonce":0`, `"nonce":9`)],
  [
    "what was signed pays its transfer",
    "a hash that the bytes do not have",
    ...FREE,
    `UPDATE payout_attempt SET hash = '0xother' WHERE payout_id = ${payout("broadcast")}`,
  ],
  [
    "what was signed cannot be changed",
    "a trigger that is off",
    "ALTER TABLE payout_attempt DISABLE TRIGGER same_bytes",
  ],
  [
    "the database refuses what must never be of a payout",
    "nonces that may come twice",
    "ALTER TABLE payout DROP CONSTRAINT payout_nonce",
  ],
  [
    "the database refuses what must never be of a payout",
    "transfers that may be paid twice",
    "DROP INDEX payout_living",
  ],
  [
    "a network fee is of a final transaction of ours",
    "a fee of a transaction that nobody knows",
    `INSERT INTO posting (account_id, id, group_id, asset, debit, credit, amount, reason, reference)
     SELECT (SELECT account_id FROM merchant LIMIT 1), uuid_floor(now()), uuid_floor(now()), 'ETH/18', '00000000-0000-7000-8000-00000000000a',
            '00000000-0000-7000-8000-000000000006', 1, 'network_fee', 'network_fee:0xnobody'`,
  ],
];

describe("the audit of payouts", () => {
  let opened: TestDatabase;
  let owner: Client;
  beforeAll(async () => {
    opened = await createTestDatabase();
    owner = new Client(opened.url);
    await owner.connect();
    const { database } = opened;
    let now = Date.UTC(2026, 10, 21);
    const merchant = await OrderingMerchant.open(database, "sandbox", { TRX: "1000" });
    const engine = new PayoutEngine({
      pool: database.pool,
      chain: createSandboxChain(database, { now: () => now }),
      serves: { environment: "sandbox", network: null },
      policy: {
        leaseMs: 0,
        maxInFlight: 10,
        stuckAfterMs: 3_600_000,
        giveUpAfterMs: 3_600_000,
        headPace: null,
        dailyCaps: {},
      },
      guard: null,
      report: () => undefined,
    });
    // One that is paid, one that cannot be signed and is filled, and one that stays on its way.
    for (const amount of ["1", "1.0006", "1.0001"]) {
      await merchant.order({ currencyCode: "TRX", amount, to: "TReceiver" });
    }
    for (let round = 0; round < 8; round += 1) {
      await engine.round();
      now += BLOCK_MS;
    }
    const { rows } = await owner.query<{ state: string }>("SELECT state FROM payout ORDER BY state");
    expect(rows.map(({ state }) => state)).toEqual(["broadcast", "confirmed", "filled"]);
  });
  afterAll(async () => {
    await owner.end();
    await opened.drop();
  });

  /** What is found now, in the owner's own transaction. */
  async function checksThatFail(full: boolean): Promise<string[]> {
    const findings = new AuditFindings();
    const look = async <Row extends QueryResultRow>(text: string, values: readonly unknown[] = []): Promise<Row[]> =>
      (await owner.query<Row>(text, [...values])).rows;
    findings.add(await look<Violation>(inOneStatement(payoutAudit.whole ?? {})));
    await payoutAudit.pages?.({ look, findings, full, notCompared: () => {} });
    return findings.violations.map(({ check }) => check);
  }

  it("finds nothing where nothing is wrong", async () => {
    expect([await checksThatFail(true), await checksThatFail(false)]).toEqual([[], []]);
  });

  it.each(DAMAGES)("finds that %s: %s", async (check, _what, ...damage) => {
    await owner.query("BEGIN");
    try {
      for (const statement of damage) await owner.query(statement);
      expect(await checksThatFail(true)).toContain(check);
      expect(await checksThatFail(false)).toContain(check);
    } finally {
      await owner.query("ROLLBACK");
    }
  });
});
