// The books, operators' actions and the state of the service, for operators.

import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AuditKind } from "#gen/saldo/operator/v1/audit_pb.ts";
import type { PostingFilterSchema } from "#gen/saldo/operator/v1/ledger_pb.ts";
import { IDR, parseMoney } from "../../src/kernel/money.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { audit } from "../../src/ledger/audit/audit.ts";
import { insertPostings } from "../../src/ledger/postings.ts";
import { systemAccounts } from "../../src/ledger/system-accounts.ts";
import { withTransaction } from "../../src/database/transactions.ts";
import { createMerchant, creditMerchant } from "../../src/operator/commands/merchants.ts";
import { billRequest } from "./billed-request.ts";
import { OPERATOR, refusal, serveOperator, type ServedOperator } from "./operator-calls.ts";

let served: ServedOperator;
beforeAll(async () => {
  served = await serveOperator();
});
afterAll(() => served.stop());

const rupiah = (text: string): bigint => parseMoney(text, IDR).units;

describe("the books", () => {
  test("balance in every asset, and are reported when they do not", async () => {
    const { operator, database } = served;
    const accountId = await served.newCustomer();
    await billRequest(database, { accountId, charge: rupiah("5") });
    const by = { database, operator: "set-up" };
    const { merchantId } = await createMerchant(by, { accountId, environment: "production" });
    await creditMerchant(by, { merchantId, currencyCode: "ETH", amountText: "1.5", reference: merchantId });
    const { rows, sums, isBalanced } = await operator.getTrialBalance({});
    expect(isBalanced).toBe(true);
    expect(sums.map(({ asset, balance }) => [asset, balance])).toEqual([
      ["ETH/18", "0"],
      ["IDR/6", "0"],
    ]);
    expect(rows.filter(({ asset }) => asset === "ETH/18")).toMatchObject([
      { class: "merchant_clearing", debits: "1.5", credits: "0", balance: "-1.5" },
      { class: "merchant_funds", debits: "0", credits: "1.5", balance: "1.5", keptBalance: "1.5" },
    ]);
    const revenue = rows.find((row) => row.class === "revenue");
    const customers = rows.find((row) => row.class === "customer_funds");
    expect(revenue?.keptBalance).toBeUndefined();
    expect(customers?.keptBalance).toBe(customers?.balance);
    expect(await audit(database.pool)).toMatchObject({ ok: true });

    await database.pool.query("UPDATE account SET posted = posted + 1 WHERE id = $1", [accountId]);
    const wrong = await operator.getTrialBalance({});
    expect(wrong.isBalanced).toBe(false);
    expect(wrong.sums.find(({ asset }) => asset === "IDR/6")?.balance).toBe("0.000001");
    // And the audit reports the place.
    await audit(database.pool, { kind: "incremental" });
    const { audits } = await operator.listAudits({});
    expect(audits.map(({ kind }) => kind)).toEqual([AuditKind.INCREMENTAL, AuditKind.FULL]);
    expect(audits[0]).toMatchObject({ violationCount: 1, violations: [{ subject: accountId }] });
    expect(audits[0]?.finishedAt).toBeDefined();
    await database.pool.query("UPDATE account SET posted = posted - 1 WHERE id = $1", [accountId]);
    await audit(database.pool);
    expect((await operator.listAudits({})).audits).toMatchObject([
      { violationCount: 0, violations: [] },
      { violationCount: 0, violations: [] },
    ]);
  });

  test("are looked through by account, reason, reference, group and time, page by page", async () => {
    const { operator, database } = served;
    const accountId = await served.newCustomer();
    const requestId = await billRequest(database, { accountId, charge: rupiah("5") });
    const credit = (n: number) =>
      operator.creditAccount({ accountId, amount: String(n), reason: `credit ${n}`, idempotencyKey: `find-${n}` });
    for (const n of [1, 2, 3]) await credit(n);
    await operator.creditUsage({ requestId, amount: "2", reason: "wrong" });
    const find = async (filter: MessageInitShape<typeof PostingFilterSchema>) =>
      (await operator.listPostings({ filter })).postings.map(({ reason, amount }) => `${reason} ${amount}`);
    const all = [
      "credit_note 2",
      "operator_credit 3",
      "operator_credit 2",
      "operator_credit 1",
      "demo_credit 5",
      "usage 5",
    ];
    expect((await find({ accountId })).toSorted()).toEqual(all.toSorted());
    expect(await find({ accountId, reason: "operator_credit" })).toEqual(all.slice(1, 4));
    expect(await find({ accountId, reason: "usage" })).toEqual(["usage 5"]);
    expect(await find({ reference: "operator:find-2" })).toEqual(["operator_credit 2"]);
    expect(await find({ groupId: requestId })).toEqual(["credit_note 2"]);
    expect(await find({ accountId, groupId: requestId })).toEqual(["credit_note 2", "usage 5"]);
    expect(await find({ accountId, asset: "BTC/8" })).toEqual([]);
    expect(await find({ accountId, until: timestampFromMs(Date.now() - 3_600_000) })).toEqual([]);
    expect(await find({ accountId, from: timestampFromMs(Date.now() - 3_600_000) })).toHaveLength(6);
    expect(await find({ accountId: systemAccounts.operatorAdjustments, reason: "operator_credit" })).toEqual(
      expect.arrayContaining(["operator_credit 1", "operator_credit 2", "operator_credit 3"]),
    );
    const seen: string[] = [];
    for (let pageToken = "", page = 0; page === 0 || pageToken !== ""; page += 1) {
      const answer = await operator.listPostings({ filter: { accountId }, pageSize: 2, pageToken });
      seen.push(...answer.postings.map(({ id }) => id));
      pageToken = answer.nextPageToken;
    }
    expect(new Set(seen).size).toBe(6);
    expect(seen).toEqual(seen.toSorted().toReversed());

    const { postings } = await operator.getPostingGroup({ groupId: requestId });
    expect(postings.map(({ reason, debit, credit: to }) => [reason, debit?.class, to?.class])).toEqual([
      ["usage", "customer_funds", "revenue"],
      ["credit_note", "revenue", "customer_funds"],
    ]);
    expect(await refusal(operator.getPostingGroup({ groupId: uuidv7() }))).toMatchObject({ code: "not_found" });
  });

  test("are found from both sides of a posting: a customer's, a fund's and ours, also of a loss", async () => {
    const { operator, database } = served;
    const accountId = await served.newCustomer();
    const by = { database, operator: "set-up" };
    const { merchantId } = await createMerchant(by, { accountId, environment: "production" });
    await creditMerchant(by, { merchantId, currencyCode: "BTC", amountText: "2", reference: merchantId });
    const { rows } = await database.pool.query<{ id: string }>("SELECT id FROM merchant_fund WHERE merchant_id = $1", [
      merchantId,
    ]);
    const { operatorLoss, revenue, merchantClearing } = systemAccounts;
    const id = uuidv7();
    const loss = { id, accountId, groupId: id, asset: IDR, debit: operatorLoss, credit: revenue, amount: 7n };
    await withTransaction(database, (client) => insertPostings(client, [{ ...loss, reason: "made_up_loss" }]));
    const find = async (ledgerAccount: string | undefined, reason: string): Promise<string[]> =>
      (await operator.listPostings({ filter: { accountId: ledgerAccount ?? "", reason } })).postings.map(
        ({ groupId }) => groupId,
      );
    expect(await find(rows[0]?.id, "merchant_credit")).toHaveLength(1);
    expect(await find(merchantClearing, "merchant_credit")).toEqual(
      expect.arrayContaining(await find(rows[0]?.id, "merchant_credit")),
    );
    expect(await find(operatorLoss, "made_up_loss")).toEqual([id]);
    expect(await find(revenue, "made_up_loss")).toEqual([id]);
    expect(await find(accountId, "made_up_loss")).toEqual([]);
  });
});

describe("what operators did", () => {
  test("is found by who, what, to what and when", async () => {
    const { operator } = served;
    const accountId = await served.newCustomer();
    await operator.freezeAccount({ accountId, reason: "a stolen card" });
    await operator.unfreezeAccount({ accountId });
    const find = async (filter: object) =>
      (await operator.listOperatorActions({ filter })).actions.map(({ action }) => action);
    expect(await find({ subject: accountId })).toEqual(["account unfreeze", "account freeze"]);
    expect(await find({ subject: accountId.toUpperCase() })).toHaveLength(2);
    expect(await find({ subject: accountId, action: "account freeze" })).toEqual(["account freeze"]);
    expect(await find({ subject: accountId, operator: "budi@example.com" })).toEqual([]);
    expect(await find({ subject: accountId, until: timestampFromMs(Date.now() - 60_000) })).toEqual([]);
    const { actions, nextPageToken } = await operator.listOperatorActions({
      filter: { subject: accountId },
      pageSize: 1,
    });
    expect(actions).toMatchObject([{ operator: OPERATOR, subject: accountId, reason: "", facts: "{}" }]);
    const rest = await operator.listOperatorActions({
      filter: { subject: accountId },
      pageSize: 1,
      pageToken: nextPageToken,
    });
    expect(rest).toMatchObject({ actions: [{ action: "account freeze", reason: "a stolen card" }], nextPageToken: "" });
  });
});

describe("operation", () => {
  test("keeps the service-wide settings, and records a change once", async () => {
    const { operator } = served;
    expect((await operator.getSettings({})).settings).toMatchObject({ welcomeCredit: "0" });
    const order = { settings: { welcomeCredit: "2500.5" }, reason: "a campaign" };
    expect((await operator.updateSettings(order)).settings).toMatchObject({ welcomeCredit: "2500.5" });
    const { count, newest } = await served.actions();
    expect(newest).toMatchObject({
      action: "settings update",
      reason: "a campaign",
      facts: { welcomeCredit: "2500.5" },
    });
    await operator.updateSettings(order);
    expect((await served.actions()).count).toBe(count);
    expect((await operator.getSettings({})).settings).toMatchObject({ welcomeCredit: "2500.5" });
    for (const welcomeCredit of ["-1", "1.0000001", ""]) {
      expect((await refusal(operator.updateSettings({ settings: { welcomeCredit } }))).code).toBe("validation_error");
    }
    const tooMuch = operator.updateSettings({ settings: { welcomeCredit: "10000000.000001" } });
    expect(await refusal(tooMuch)).toMatchObject({ code: "limit_exceeded" });
    expect((await operator.getSettings({})).settings).toMatchObject({ welcomeCredit: "2500.5" });
  });

  test("stops admissions once, with who stopped them first, and starts them", async () => {
    const { operator } = served;
    const { admission } = await operator.stopAdmission({ reason: "a price was a slip" });
    expect(admission).toMatchObject({ stopped: true, reason: "a price was a slip" });
    const { count } = await served.actions();
    expect((await operator.stopAdmission({ reason: "another" })).admission).toEqual(admission);
    expect((await served.actions()).count).toBe(count);
    expect((await operator.getAdmission({})).admission).toEqual(admission);
    expect((await operator.startAdmission({})).admission).toMatchObject({ stopped: false, reason: "" });
  });

  test("reports a margin for days that are days, a month at most", async () => {
    const { operator } = served;
    for (const [from, to] of [
      ["2026-02-30", "2026-03-01"],
      ["2026-03-02", "2026-03-01"],
      ["2026-01-01", "2026-02-01"],
    ]) {
      expect((await refusal(operator.reportMargin({ from: from ?? "", to: to ?? "" }))).code).toBe("validation_error");
    }
    const today = new Date(Date.now() + 7 * 3_600_000).toISOString().slice(0, 10);
    const { total, lines } = await operator.reportMargin({ from: today, to: today });
    expect(lines).toMatchObject([{ key: "acme/large", withoutCost: total?.requests }]);
    expect(Number(total?.requests)).toBeGreaterThan(0);
  });
});
