// Accounts and fees for operators.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Environment } from "#gen/saldo/merchant/v1/merchant_pb.ts";
import { IDR, parseMoney } from "../../src/kernel/money.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { createMerchant } from "../../src/operator/commands/merchants.ts";
import { billRequest } from "./billed-request.ts";
import { refusal, serveOperator, type ServedOperator } from "./operator-calls.ts";

let served: ServedOperator;
beforeAll(async () => {
  served = await serveOperator();
});
afterAll(() => served.stop());

const rupiah = (text: string): bigint => parseMoney(text, IDR).units;

describe("accounts", () => {
  test("are found by a part of their address, whatever its case, by their id, and page by page", async () => {
    const { operator } = served;
    const ids: string[] = [];
    for (const name of ["Citra_1", "citra%2", "dewi"]) ids.push(await served.newCustomer(`${name}@Find.example`));
    const emails = async (query: string) => (await operator.listAccounts({ query })).accounts.map(({ email }) => email);
    // Newest first; two of one millisecond have any order.
    expect((await emails("CITRA")).toSorted()).toEqual(["Citra_1@Find.example", "citra%2@Find.example"]);
    // A pattern of LIKE is searched as plain text.
    expect(await emails("citra_")).toEqual(["Citra_1@Find.example"]);
    expect(await emails("%")).toEqual(["citra%2@Find.example"]);
    expect(await emails((ids[2] ?? "").toUpperCase())).toEqual(["dewi@Find.example"]);
    expect(await emails(uuidv7())).toEqual([]);
    const seen: string[] = [];
    for (let pageToken = "", page = 0; page === 0 || pageToken !== ""; page += 1) {
      const { accounts, nextPageToken } = await operator.listAccounts({
        query: "@find.example",
        pageSize: 2,
        pageToken,
      });
      seen.push(...accounts.map(({ id }) => id));
      pageToken = nextPageToken;
    }
    expect(seen).toEqual(ids.toSorted((one, other) => (one < other ? 1 : -1)));
    expect(await refusal(operator.listAccounts({ pageToken: "x" }))).toMatchObject({ rules: ["pageToken page_token"] });
    expect(await refusal(operator.listAccounts({ pageSize: 201 }))).toMatchObject({ rules: ["pageSize uint32.lte"] });
  });

  test("are shown, credited once for a key, corrected, frozen and limited", async () => {
    const { operator } = served;
    const accountId = await served.newCustomer();
    const requestId = await billRequest(served.database, { accountId, charge: rupiah("5") });
    const command = {
      accountId: accountId.toUpperCase(),
      amount: "100.5",
      reason: "a transfer",
      idempotencyKey: "k-1",
    };
    const clicks = await Promise.all([operator.creditAccount(command), operator.creditAccount(command)]);
    expect(clicks.filter((click) => click.posting?.isNew)).toHaveLength(1);
    expect(new Set(clicks.map((click) => click.posting?.postingId)).size).toBe(1);
    expect(await refusal(operator.creditAccount({ ...command, amount: "7" }))).toMatchObject({
      rules: ["idempotencyKey credit.reference"],
    });
    // A correction with the key of a credit is a command of its own.
    const same = { accountId, amount: "100.5", reason: "once more", idempotencyKey: "k-1" };
    expect((await operator.adjustAccount(same)).posting).toMatchObject({ isNew: true, available: "201" });
    await operator.adjustAccount({ ...same, amount: "-100.5", idempotencyKey: "k-1-back" });
    const slip = { accountId, amount: "-0.5", reason: "a slip", idempotencyKey: "k-2" };
    expect((await operator.adjustAccount(slip)).posting?.available).toBe("100");
    const tooMuch = operator.adjustAccount({ ...slip, amount: "-100.000001", idempotencyKey: "k-3" });
    expect(await refusal(tooMuch)).toMatchObject({ code: "insufficient_balance" });
    for (const amount of ["0", "-1", "1.0000001", "1e3", "", "1000000000000.1"]) {
      expect((await refusal(operator.creditAccount({ ...command, amount, idempotencyKey: "k-4" }))).code, amount).toBe(
        "validation_error",
      );
    }
    for (const missing of [{ reason: "" }, { idempotencyKey: "" }]) {
      expect((await refusal(operator.creditAccount({ ...command, ...missing }))).code).toBe("validation_error");
    }
    await operator.freezeAccount({ accountId, reason: "a stolen card" });
    await operator.setAccountLimit({ accountId, maxOpenRequests: 3 });
    expect(await operator.creditUsage({ requestId, amount: "2", reason: "half wrong", name: "first" })).toMatchObject({
      accountId,
      amount: "2",
      credited: "2",
      left: "3",
      isNew: true,
    });
    const { account, limits, lastUsageAt, merchants } = await operator.getAccount({ accountId });
    expect(account).toMatchObject({
      id: accountId,
      balance: { currency: "IDR", available: "102", held: "0", posted: "102" },
    });
    expect(limits).toMatchObject({ maxOpenRequests: 3, openRequests: 0 });
    expect(limits?.frozenAt).toEqual(account?.frozenAt);
    expect(account?.frozenAt).toBeDefined();
    expect(lastUsageAt).toBeDefined();
    expect(merchants).toEqual([]);
    expect(await refusal(operator.getAccount({ accountId: uuidv7() }))).toMatchObject({ code: "not_found" });
  });
});

describe("the fee schedule", () => {
  test("is listed with what was replaced, and its effect is previewed before it is set", async () => {
    const { operator, database } = served;
    const accountId = await served.newCustomer();
    const by = { database, operator: "set-up" };
    const { merchantId } = await createMerchant(by, { accountId, environment: "sandbox" });
    const question = { merchantId, currencyCode: "TRX", amount: "10" };
    const tried = await operator.previewFee({ ...question, terms: { flat: "1", rate: "0.05", max: "1.25" } });
    expect(tried).toMatchObject({
      current: { received: "10", fee: "16.7", total: "26.7" },
      proposed: { received: "10", fee: "1.25", total: "11.25" },
      row: { merchantId: "", currencyCode: "TRX", version: 1 },
    });
    await operator.setFee({ merchantId, currencyCode: "TRX", terms: { flat: "1", rate: "0.05" } });
    const { row } = await operator.setFee({
      merchantId,
      currencyCode: "TRX",
      terms: { flat: "1", rate: "0.05", max: "1.25" },
    });
    expect(row).toMatchObject({ version: 2, terms: { flat: "1", rate: "0.05", max: "1.25" }, isCurrent: true });
    for (const named of [merchantId, merchantId.toUpperCase()]) {
      const preview = await operator.previewFee({ ...question, merchantId: named });
      expect(preview).toMatchObject({ current: { fee: "1.25" }, row: { id: row?.id } });
    }
    const versions = async (withReplaced: boolean) =>
      (await operator.listFees({ merchantId, withReplaced })).rows.map(({ version, isCurrent }) => [
        version,
        isCurrent,
      ]);
    expect(await versions(false)).toEqual([[2, true]]);
    expect(await versions(true)).toEqual([
      [2, true],
      [1, false],
    ]);
    const wrong = { merchantId, terms: { flat: "1", rate: "0.05", min: "2", max: "1" } };
    expect(await refusal(operator.setFee(wrong))).toMatchObject({ rules: ["min fee.min_lte_max"] });
    expect(await refusal(operator.previewFee({ ...question, amount: "1.0000001" }))).toMatchObject({
      code: "amount_precision",
    });
    const unknown = operator.previewFee({ ...question, merchantId: uuidv7() });
    expect(await refusal(unknown)).toMatchObject({ code: "not_found" });
    expect((await operator.listMerchants({ accountId })).merchants).toMatchObject([
      { id: merchantId, environment: Environment.SANDBOX },
    ]);
  });
});
