// The audit of payouts against a real node: books that agree with themselves, and not with the chain.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Client } from "pg";
import { audit } from "../../../src/ledger/audit/audit.ts";
import type { PayoutChain } from "../../../src/merchant/chains/payout-chain.ts";
import { chainAudit } from "../../../src/merchant/payouts/audit-chain.ts";
import { EvmSetup } from "./evm-setup.ts";

const CHECK = "the chain has what the books have of a payout";
const OTHER_HASH = `0x${"ab".repeat(32)}`;

describe("the audit of payouts against their chain", () => {
  let setup: EvmSetup;
  let owner: Client;
  let payoutId: string;
  beforeAll(async () => {
    setup = await EvmSetup.open();
    await setup.runToEnd(setup.engine(), [await setup.orderTokens(await setup.recipient())]);
    owner = new Client(setup.opened.url);
    await owner.connect();
    const { rows } = await owner.query<{ id: string }>("SELECT id FROM payout");
    payoutId = rows[0]?.id ?? "";
  });
  afterAll(async () => {
    await owner.end();
    await setup.close();
  });

  const found = (chains: readonly PayoutChain[], kind: "full" | "incremental" = "full") =>
    audit(setup.database.pool, { kind, topics: [chainAudit(chains)] });
  const compared = async () => (await found([setup.chain()])).violations.filter(({ check }) => check === CHECK);
  /** Statements past the triggers of append-only tables. */
  const forge = async (...statements: readonly string[]) => {
    await owner.query("SET session_replication_role = replica");
    const tables = ["payout", "payout_attempt", "transfer", "posting"];
    for (const table of tables) await owner.query(`ALTER TABLE ${table} DISABLE TRIGGER USER`);
    for (const statement of statements) await owner.query(statement);
    for (const table of tables)
      await owner.query(
        `ALTER TABLE ${table} ENABLE ALWAYS TRIGGER append_only, ENABLE ALWAYS TRIGGER append_only_truncate`,
      );
  };

  it("finds nothing where each payment is on its chain", async () => {
    expect(await found([setup.chain()])).toEqual({ ok: true, violations: [], hasMore: false });
  });

  it.each([
    [
      "a payment that no chain has seen",
      "which is in no block",
      [`UPDATE payout_attempt SET hash = '${OTHER_HASH}'`, `UPDATE payout SET final_hash = '${OTHER_HASH}'`],
    ],
    [
      "a payment to somebody else",
      "did not pay it",
      ["UPDATE transfer SET address = '0x000000000000000000000000000000000000dEaD'"],
    ],
    [
      "a payment of more than was sent",
      "did not pay it",
      ["UPDATE transfer SET received = received + 1, total = total + 1"],
    ],
    ["funds given back of a payment that arrived", "given back, and", ["UPDATE payout SET state = 'reverted'"]],
    [
      "a network fee that the network did not take",
      "network fee",
      ["UPDATE posting SET amount = amount + 1 WHERE reference LIKE 'network_fee:%'"],
    ],
    [
      "a network fee that was not posted",
      "network fee 0",
      ["DELETE FROM posting WHERE reference LIKE 'network_fee:%'"],
    ],
  ])("finds %s", async (_, detail, statements) => {
    const tables = ["payout", "payout_attempt", "transfer", "posting"];
    for (const table of tables) await owner.query(`CREATE TEMPORARY TABLE kept_${table} AS SELECT * FROM ${table}`);
    await forge(...statements);
    const violations = await compared();
    await forge(
      ...tables.map(
        (table) => `DELETE FROM ${table}; INSERT INTO ${table} SELECT * FROM kept_${table}; DROP TABLE kept_${table}`,
      ),
    );
    expect(violations).toMatchObject([{ subject: payoutId, detail: expect.stringContaining(detail) as string }]);
    expect(await compared()).toEqual([]);
  });

  it("does not ask whether a block is final, which would cost calls for each payout", async () => {
    const asked: number[] = [];
    const chain = setup.chain();
    const counting: PayoutChain = {
      ...chain,
      find: (transaction, head) => {
        asked.push(head.final);
        return chain.find(transaction, head);
      },
    };
    expect(await found([counting])).toMatchObject({ ok: true });
    expect(asked).toEqual([-1]);
  });

  it("reports payouts that it could not compare", async () => {
    const silent: PayoutChain = {
      ...setup.chain(),
      head: () => Promise.reject(new Error("https://node.example/secret")),
    };
    const mute: PayoutChain = {
      ...setup.chain(),
      find: () => Promise.reject(new Error("https://node.example/secret")),
    };
    const ancient: PayoutChain = {
      ...setup.chain(),
      head: () => Promise.resolve({ latest: 1_000_000, final: 999_990 }),
      find: () => Promise.resolve({ status: "unknown" }),
    };
    const wallet = `payouts of ethereum ${setup.hot.address}`;
    for (const [chains, what] of [
      [[], "no node is configured for it"],
      [[silent], "its node did not answer"],
      [[mute], "its node did not answer"],
      [[ancient], "too old for its node"],
    ] as const) {
      const { ok, notCompared = [] } = await found(chains);
      expect(ok).toBe(true);
      expect(notCompared).toHaveLength(1);
      expect(notCompared[0]?.toLowerCase()).toContain(wallet.toLowerCase());
      expect(notCompared[0]).toContain(what);
      expect(notCompared[0]).not.toContain("secret");
    }
    expect(await found([], "incremental")).toEqual({ ok: true, violations: [], hasMore: false });
  });
});
