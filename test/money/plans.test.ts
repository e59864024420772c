// Statements are planned once, while the tables are empty, and run for as long as the connection lives. So: plan them on an
// empty database, let it grow without an ANALYZE, and see that they still read by the keys they were given.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { admissionStatement } from "../../src/ledger/admission.ts";
import { extensionStatement } from "../../src/ledger/extension.ts";
import { settlementStatement } from "../../src/ledger/settlement.ts";
import type { PipelinedStatement } from "../../src/ledger/statement-pipeline.ts";
import { testBackends } from "../setup/test-database.ts";
import { admission, MoneyWorld, settlement, type TestProcess } from "./world.ts";

const GROWN = 20_000;
const GROW = `
INSERT INTO account (id, posted) SELECT gen_random_uuid(), 1000000 FROM generate_series(1, ${GROWN});
INSERT INTO api_key (account_id, id, digest, name, prefix, last_four)
  SELECT id, gen_random_uuid(), uuid_send(id), 'n', 'gw_', 'xxxx' FROM account;
ALTER TABLE account DISABLE TRIGGER USER;
INSERT INTO hold (account_id, id, owner, amount, key_id, model, input_price, output_price)
  SELECT account_id, gen_random_uuid(), gen_random_uuid(), 0, id, 'm', 1, 1 FROM api_key`;

type PlanNode = {
  "Node Type": string;
  "Relation Name"?: string;
  "Actual Rows"?: number;
  "Actual Loops"?: number;
  "Rows Removed by Filter"?: number;
  Plans?: PlanNode[];
};
const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];
/** How many rows a scan has looked at. */
const touched = (node: PlanNode): number =>
  ((node["Actual Rows"] ?? 0) + (node["Rows Removed by Filter"] ?? 0)) * (node["Actual Loops"] ?? 1);

describe.each(testBackends())("money statements on a grown %s database", (backend) => {
  let world: MoneyWorld;
  let process: TestProcess;
  let members: { accountId: string; keyId: string }[];
  beforeAll(async () => {
    world = await MoneyWorld.create(backend);
    process = await world.process();
    members = [];
    for (let index = 0; index < 8; index += 1) {
      const accountId = await world.account(1_000_000n);
      members.push({ accountId, keyId: await world.key(accountId, 60) });
    }
  });
  afterAll(() => world.close());

  /** Prepares a statement on the empty database; gives what runs it with a look at its plan. */
  async function planned(text: string) {
    const client = await process.database.connect();
    const name = `s${uuidv7().replaceAll("-", "")}`;
    await client.query(`PREPARE ${name} AS ${text}`);
    return async (values: readonly (string | null)[]) => {
      const literals = values.map((value) => (value === null ? "NULL" : `'${value}'`)).join(", ");
      const { rows } = await client.query<{ "QUERY PLAN": { Plan: PlanNode }[] }>(
        `EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE ${name} (${literals})`,
      );
      const [explained] = rows[0]?.["QUERY PLAN"] ?? [];
      return explained === undefined ? [] : nodesOf(explained.Plan);
    };
  }

  /** The statements of a request's life, for new requests of the same accounts. */
  function statements(): PipelinedStatement[] {
    const requests = members.map(({ accountId, keyId }) => ({
      ...admission(accountId, keyId, 10n),
      owner: process.lease.processId,
      slotTaken: false,
    }));
    const settlements = requests.map(({ accountId, requestId }) => settlement(accountId, requestId, 0));
    const extensions = requests.map(({ accountId, requestId, amount }) => {
      const progress = { inputTokens: 1, outputTokens: 1 };
      return { accountId, requestId, amount, leastAmount: amount, ...progress };
    });
    const [lone, ...group] = requests;
    const [loneExtension, ...groupExtensions] = extensions;
    const [loneSettlement, ...groupSettlements] = settlements;
    if (lone === undefined || loneSettlement === undefined || loneExtension === undefined)
      throw new Error("there are members");
    return [
      admissionStatement.lone(lone),
      admissionStatement.group(group),
      extensionStatement.lone(loneExtension),
      extensionStatement.group(groupExtensions),
      settlementStatement.lone(loneSettlement),
      settlementStatement.group(groupSettlements),
    ];
  }

  it("are run by the keys, alone and in groups", async () => {
    const runs = [];
    for (const { text, values } of statements()) {
      const run = await planned(text);
      await run(values); // the plan that is kept
      runs.push(run);
    }
    await world.asOwner(GROW);
    for (const [index, { values }] of statements().entries()) {
      const nodes = (await runs[index]?.(values)) ?? [];
      const scans = nodes.filter((node) => node["Relation Name"] !== undefined);
      expect(scans.length).toBeGreaterThan(0);
      for (const scan of scans) {
        expect(scan["Node Type"]).not.toBe("Seq Scan");
        // A scan of a whole index would touch every row there is.
        expect(touched(scan), `${scan["Node Type"]} on ${scan["Relation Name"]}`).toBeLessThan(200);
      }
    }
  });
});
