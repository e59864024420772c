// Forgeries that agree with themselves: balances, sums and costs are right, and yet no operator and no customer ordered them. The
// audit compares the books with what other topics recorded, so it names the row.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { presetCatalog } from "../../src/app/compose/catalog.ts";
import { topicAudits } from "../../src/app/compose/topic-audits.ts";
import { publishCatalog } from "../../src/catalog/apply-catalog.ts";
import { pricesOf } from "../../src/catalog/prices.ts";
import { withTransaction } from "../../src/database/transactions.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { invariant } from "../../src/kernel/invariant.ts";
import { systemAccounts } from "../../src/ledger/system-accounts.ts";
import { adjustAccount, creditAccount, creditUsage } from "../../src/operator/commands/accounts.ts";
import { updateSettings } from "../../src/operator/commands/settings.ts";
import { postWelcomeCredit } from "../../src/billing/welcome-credit.ts";
import { testBackends } from "../setup/test-database.ts";
import { admission, MoneySetup, PRICES, settlement, SOUND, type TestProcess } from "./money-setup.ts";

const RUPIAH = 1_000_000n;
const OPERATOR_CHECK = "money that an operator moved has its line in the operators' log";
const GIFT_CHECK = "what is given away is the welcome credit of its time, or a demo's play money";
const PRICE_CHECK = "a record has prices that its model had in the catalog";

const catalogOf = (inputPrice: bigint, model = "test/model"): string => `
upstreams: [{ id: local, kind: openai-compatible, base_url: "https://up.example/v1" }]
models:
  - id: ${model}
    context_length: 100000
    max_output_tokens: 1000
    price: { input: "${inputPrice / RUPIAH}", output: "${PRICES.output / RUPIAH}"${PRICES.cacheHit === null ? "" : `, cache_hit: "${PRICES.cacheHit / RUPIAH}"`} }
    routes: [{ upstream: local, model: m }]
`;

describe.each(testBackends())("the audit of forgeries on the %s database", (backend) => {
  let setup: MoneySetup;
  let process: TestProcess;
  beforeAll(async () => {
    setup = await MoneySetup.create(backend);
    process = await setup.process();
  });
  afterAll(() => setup.close());

  const by = () => ({ database: setup.opened.database, operator: "olga@saldo.example" });
  const publish = (yaml: string) =>
    withTransaction(setup.opened.database, (client) =>
      publishCatalog(client, { yaml, operator: "olga@saldo.example", reason: "prices" }),
    );
  /** Runs SQL past the triggers of append-only tables. */
  const forge = (table: string, sql: string) =>
    setup.asOwner(`ALTER TABLE ${table} DISABLE TRIGGER USER; ${sql}; ALTER TABLE ${table} ENABLE ALWAYS TRIGGER append_only;
      ALTER TABLE ${table} ENABLE ALWAYS TRIGGER append_only_truncate`);
  const findings = async () => (await setup.audit()).violations.map(({ check, subject }) => [check, subject]);
  async function used(tokens: number) {
    const account = await setup.account(10_000_000n);
    const request = admission(account, await setup.key(account), 1_000_000n);
    await process.ledger.admit(request);
    await process.ledger.settle(settlement(account, request.requestId, tokens));
    return { account, requestId: request.requestId };
  }
  /** What the serving role itself can write: a posting, and the balance that it comes to. */
  async function mint(reason: string, from: string, amount: bigint, reference: string | null = null) {
    const [account, id] = [await setup.account(0n), uuidv7()];
    await setup.pool.query(
      `WITH minted AS (
         INSERT INTO posting (account_id, id, group_id, asset, debit, credit, amount, reason, reference)
         VALUES ($1, $2, $2, 'IDR/6', $3, $1, $4, $5, $6))
       UPDATE account SET posted = posted + $4 WHERE id = $1`,
      [account, id, from, amount, reason, reference?.replace("ACCOUNT", account) ?? null],
    );
    const undo = () =>
      forge(
        "posting",
        `DELETE FROM posting WHERE id = '${id}'; UPDATE account SET posted = posted - ${amount} WHERE id = '${account}'`,
      );
    return { account, id, undo };
  }

  it("finds nothing where operators credit, correct and give back by their commands", async () => {
    const { account, requestId } = await used(3);
    const command = { accountId: account, reason: "by hand" };
    await creditAccount(by(), { ...command, amount: 5n * RUPIAH, reference: uuidv7() });
    await adjustAccount(by(), { ...command, amount: -2n * RUPIAH, reference: uuidv7() });
    await adjustAccount(by(), { ...command, amount: 1n, reference: uuidv7() });
    await creditUsage(by(), { requestId, amount: 7n, note: "wrong", name: null });
    expect(await setup.audit()).toEqual(SOUND);
    expect(await setup.audit({ kind: "incremental" })).toEqual(SOUND);
  });

  it.each(["operator_credit", "operator_adjustment", "top_up"])(
    "finds a %s out of operators' adjustments that no operator ordered",
    async (reason) => {
      const { id, undo } = await mint(reason, systemAccounts.operatorAdjustments, 5n * RUPIAH);
      expect(await findings()).toEqual([[OPERATOR_CHECK, id]]);
      expect((await setup.audit({ kind: "incremental" })).violations).toMatchObject([{ check: OPERATOR_CHECK }]);
      await undo();
      expect(await setup.audit()).toEqual(SOUND);
    },
  );

  it("finds a posting that takes another amount, another account or the line of another one", async () => {
    const { id, account, undo } = await mint("operator_credit", systemAccounts.operatorAdjustments, 5n * RUPIAH);
    const line = (subject: string, postingId: string, amount: string) =>
      setup.pool.query(
        `INSERT INTO operator_action (id, operator, action, subject, reason, facts)
         VALUES ($1, 'olga', 'account credit', $2, 'x', jsonb_build_object('postingId', $3::text, 'amount', $4::text))`,
        [uuidv7(), subject, postingId, amount],
      );
    await line(account, id, "50");
    await line(uuidv7(), id, "5");
    await line(account, uuidv7(), "5");
    expect(await findings()).toEqual([[OPERATOR_CHECK, id]]);
    await undo();
  });

  it("finds money taken as a demo's, where no demo was cleared", async () => {
    const [account, id] = [await setup.account(9n * RUPIAH), uuidv7()];
    const { operatorAdjustments } = systemAccounts;
    const take = `INSERT INTO posting (account_id, id, group_id, asset, debit, credit, amount, reason, reference)
       VALUES ($1, $2, $2, 'IDR/6', $1, $3, 9000000, 'operator_adjustment', $4)`;
    await setup.pool.query(take, [account, id, operatorAdjustments, `demo-clear:${account}:${operatorAdjustments}`]);
    await setup.pool.query("UPDATE account SET posted = posted - 9000000 WHERE id = $1", [account]);
    expect(await findings()).toEqual([[OPERATOR_CHECK, id]]);
    await setup.asOwner("INSERT INTO database_purpose (purpose, since) VALUES ('production', now())");
    expect(await findings()).toEqual([]);
    await setup.asOwner("UPDATE database_purpose SET since = now() - interval '2 minutes'");
    expect(await findings()).toEqual([[OPERATOR_CHECK, id]]);
    await setup.asOwner("DELETE FROM database_purpose");
    await forge(
      "posting",
      `DELETE FROM posting WHERE id = '${id}'; UPDATE account SET posted = posted + 9000000 WHERE id = '${account}'`,
    );
  });

  it("finds a welcome credit that no setting gave, and other gifts", async () => {
    await updateSettings(by(), { settings: { welcomeCredit: 3n * RUPIAH }, reason: "a new year" });
    await postWelcomeCredit(setup.opened.database, await setup.account(0n));
    await updateSettings(by(), { settings: { welcomeCredit: 4n * RUPIAH }, reason: "a better year" });
    await postWelcomeCredit(setup.opened.database, await setup.account(0n));
    expect(await setup.audit()).toEqual(SOUND);
    const { promotions } = systemAccounts;
    for (const [reason, amount, reference] of [
      ["welcome_credit", 5n, "welcome:ACCOUNT"],
      ["welcome_credit", 4n, "welcome:another"],
      ["gift", 4n, "welcome:ACCOUNT"],
      ["operator_adjustment", 4n, null],
    ] as const) {
      const { id, undo } = await mint(reason, promotions, amount * RUPIAH, reference);
      expect(await findings()).toEqual([[GIFT_CHECK, id]]);
      await undo();
    }
    // A setting that was changed more than a minute before.
    await forge("operator_setting", "UPDATE operator_setting SET set_at = set_at - interval '2 minutes'");
    const { id, undo } = await mint("welcome_credit", promotions, 3n * RUPIAH, "welcome:ACCOUNT");
    expect(await findings()).toContainEqual([GIFT_CHECK, id]);
    await undo();
  });

  describe("where a catalog was published", () => {
    beforeAll(async () => {
      await publish(catalogOf(PRICES.input));
    });

    it("finds a bill doubled at a price that was never in the catalog", async () => {
      const { account, requestId } = await used(3);
      expect((await findings()).filter(([check]) => check === PRICE_CHECK)).toEqual([]);
      const times = (factor: string, sign: string) =>
        forge(
          "usage_record",
          `UPDATE usage_record SET input_price = input_price ${factor}, cost = cost ${factor}, charge = charge ${factor}
             WHERE request_id = '${requestId}'; UPDATE account SET posted = posted ${sign} 15000 WHERE id = '${account}'`,
        );
      await times("* 2", "-");
      expect((await findings()).filter(([check]) => check === PRICE_CHECK)).toEqual([[PRICE_CHECK, requestId]]);
      await times("/ 2", "+");
      expect((await findings()).filter(([check]) => check === PRICE_CHECK)).toEqual([]);
    });

    it("finds a price of another time, and one of a kind that the model does not have", async () => {
      const { requestId } = await used(0);
      const set = (values: string) =>
        forge("usage_record", `UPDATE usage_record SET ${values} WHERE request_id = '${requestId}'`);
      const isFound = async () => (await findings()).some(([check, id]) => check === PRICE_CHECK && id === requestId);
      for (const values of [
        "cache_hit_price = 1",
        `other_prices = '{"per_request": "5"}'`,
        "model = 'test/another'",
        "output_price = output_price + 1",
      ]) {
        const [before] = (await setup.asOwner(
          `SELECT cache_hit_price, other_prices, model, output_price FROM usage_record WHERE request_id = '${requestId}'`,
        )) as [Record<string, string | null>];
        await set(values);
        expect(await isFound(), values).toBe(true);
        await set(
          Object.entries(before)
            .map(([name, value]) => `${name} = ${value === null ? "NULL" : `'${value}'`}`)
            .join(", "),
        );
        expect(await isFound(), values).toBe(false);
      }
      // A new price, and the old one long gone.
      await publish(catalogOf(PRICES.input * 2n));
      expect(await isFound()).toBe(false);
      await forge("catalog_change", "UPDATE catalog_change SET changed_at = changed_at - interval '11 minutes'");
      expect(await isFound()).toBe(true);
      await forge("catalog_change", "UPDATE catalog_change SET changed_at = changed_at + interval '11 minutes'");
    });

    it("counts every price of a demo at any time, because its past is written at the prices of today, and no other", async () => {
      const [preset] = presetCatalog({ demo: true, demoAllows: new Set(), variable: () => undefined }).presetModels;
      invariant(preset !== undefined, "a demo has a model");
      const topics = topicAudits([preset]);
      const account = await setup.account(10_000_000n);
      const key = await setup.key(account);
      const sell = async (input: bigint): Promise<string> => {
        const request = { ...admission(account, key, 1_000_000n), model: preset.id };
        await process.ledger.admit({ ...request, prices: { ...pricesOf(preset), input } });
        await process.ledger.settle({ ...settlement(account, request.requestId, 0), cost: 0n });
        return request.requestId;
      };
      await sell(preset.inputPrice);
      const forged = await sell(preset.inputPrice + 1n);
      const { violations } = await setup.audit({ topics });
      expect(violations.filter(({ detail }) => detail.startsWith(preset.id))).toMatchObject([{ subject: forged }]);
      const unknown = (await findings()).filter(([check]) => check === PRICE_CHECK);
      expect(unknown).toHaveLength(2);
      await forge("usage_record", `DELETE FROM usage_record WHERE account_id = '${account}'`);
    });

    it("does not compare what a demo left, by when it was settled and not by its id", async () => {
      const account = await setup.account(10_000_000n);
      const sold = {
        ...admission(account, await setup.key(account), 1_000_000n),
        requestId: uuidv7(Date.now() - 7_200_000),
      };
      await process.ledger.admit({ ...sold, prices: { ...PRICES, output: 77n } });
      await process.ledger.settle({ ...settlement(account, sold.requestId, 0), cost: 0n });
      const isFound = async () => (await findings()).some(([, id]) => id === sold.requestId);
      expect(await isFound()).toBe(true);
      await setup.asOwner(
        "INSERT INTO database_purpose (purpose, since) VALUES ('production', now() - interval '1 hour')",
      );
      expect(await isFound()).toBe(true);
      await setup.asOwner("UPDATE database_purpose SET since = now() + interval '1 second'");
      expect(await isFound()).toBe(false);
      await setup.asOwner("DELETE FROM database_purpose");
      await forge("usage_record", `DELETE FROM usage_record WHERE account_id = '${account}'`);
    });

    it("finds a request under the key of another account", async () => {
      const { requestId } = await used(1);
      const other = await setup.account(0n);
      const key = await setup.key(other);
      const check = "a record is of a key of its account";
      const [{ key_id: own }] = (await setup.asOwner(
        `SELECT key_id FROM usage_record WHERE request_id = '${requestId}'`,
      )) as [{ key_id: string }];
      const set = (id: string) =>
        forge("usage_record", `UPDATE usage_record SET key_id = '${id}' WHERE request_id = '${requestId}'`);
      await set(key);
      expect(await findings()).toContainEqual([check, requestId]);
      await set(own);
      expect(await findings()).not.toContainEqual([check, requestId]);
    });
  });
});
