// Commands that one operator alone may not carry out: they wait, take effect once when another operator approves, and never
// otherwise.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ApprovalCommand, ApprovalState } from "#gen/saldo/operator/v1/approval_pb.ts";
import { createCustomer } from "../../src/identity/customers.ts";
import { withTransaction } from "../../src/database/transactions.ts";
import { IDR, parseMoney } from "../../src/kernel/money.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { openAccount } from "../../src/ledger/accounts.ts";
import { createMerchant, creditMerchant, listBalances } from "../../src/merchant/merchants/merchants.ts";
import { isLooser, listLimits } from "../../src/merchant/merchants/limits.ts";
import { creditAccount } from "../../src/operator/commands/accounts.ts";
import { orderTransfer } from "../merchant/merchant-accounts.ts";
import { billRequest } from "./billed-request.ts";
import { OPERATOR, refusal, refusedTexts, SECOND, serveOperator, type ServedOperator } from "./operator-calls.ts";

let served: ServedOperator;
beforeAll(async () => {
  served = await serveOperator({ secondPerson: { above: { IDR: "1000", USDT: "10" } } });
});
afterAll(() => served.stop());

const available = async (accountId: string): Promise<string | undefined> =>
  (await served.operator.getAccount({ accountId })).account?.balance?.available;
const credit = (accountId: string, amount = "1001", key = uuidv7()) => ({
  accountId,
  amount,
  reason: "a bank transfer",
  idempotencyKey: key,
});
const merchantOf = async (accountId: string, environment: "sandbox" | "production" = "production"): Promise<string> =>
  (await createMerchant(served.database, { accountId, environment })).merchantId;

describe("an order above the sum", () => {
  test("waits, is listed with who asked, and takes effect once another operator approves", async () => {
    const accountId = await served.newCustomer();
    const request = credit(accountId);
    const { pendingApprovalId, posting } = await served.operator.creditAccount(request);
    expect(posting).toBeUndefined();
    expect(await available(accountId)).toBe("0");
    // A repeated command is the same one.
    expect((await served.operator.creditAccount(request)).pendingApprovalId).toBe(pendingApprovalId);
    const [listed] = (await served.second.listApprovals({ state: ApprovalState.PENDING })).approvals;
    expect(listed).toMatchObject({
      id: pendingApprovalId,
      command: ApprovalCommand.ACCOUNT_CREDIT,
      subject: accountId,
      currencyCode: "IDR",
      amount: "1001",
      reason: "a bank transfer",
      requestedBy: OPERATOR,
      isOwn: false,
    });
    const own = await refusal(served.operator.grantApproval({ approvalId: pendingApprovalId }));
    expect(own).toEqual({ code: "validation_error", rules: ["approvalId approval.second_person"] });
    const texts = await refusedTexts(served.operator.grantApproval({ approvalId: pendingApprovalId }));
    // The dashboard translates these words (problem-text.test.ts).
    expect(texts).toEqual(["must be approved by another operator than the one who gave the command"]);
    expect(await available(accountId)).toBe("0");
    const [first, again] = [
      await served.second.grantApproval({ approvalId: pendingApprovalId, reason: "seen at the bank" }),
      await served.second.grantApproval({ approvalId: pendingApprovalId }),
    ];
    expect([first.isNew, again.isNew, first.approval?.state]).toEqual([true, false, ApprovalState.APPROVED]);
    expect(await available(accountId)).toBe("1001");
    // Now its first name returns its result.
    expect(await served.operator.creditAccount(request)).toMatchObject({
      pendingApprovalId: "",
      posting: { isNew: false, available: "1001" },
    });
    expect(await served.linesOf(accountId)).toEqual([
      { operator: OPERATOR, action: "account credit", reason: "a bank transfer" },
    ]);
    expect(await served.linesOf(pendingApprovalId)).toEqual([
      { operator: SECOND, action: "approval grant", reason: "seen at the bank" },
      { operator: OPERATOR, action: "approval request", reason: "a bank transfer" },
    ]);
  });

  test("and one that is not above it is carried out at once, as is one by the command line", async () => {
    const accountId = await served.newCustomer();
    expect(await served.operator.creditAccount(credit(accountId, "1000"))).toMatchObject({ pendingApprovalId: "" });
    const amount = parseMoney("5000", IDR).units;
    const by = { database: served.database, operator: "root@host" };
    await creditAccount(by, { accountId, amount, reason: "r", reference: uuidv7() });
    expect(await available(accountId)).toBe("6000");
  });

  test("is carried out once though two operators approve at once", async () => {
    const accountId = await served.newCustomer();
    const { pendingApprovalId: approvalId } = await served.operator.creditAccount(credit(accountId));
    const approved = await Promise.all([1, 2, 3].map(() => served.second.grantApproval({ approvalId })));
    expect(approved.filter(({ isNew }) => isNew)).toHaveLength(1);
    expect(await available(accountId)).toBe("1001");
  });

  test("is refused with a reason, by its own operator too, and takes effect no more", async () => {
    const accountId = await served.newCustomer();
    const request = credit(accountId);
    const { pendingApprovalId: approvalId } = await served.operator.creditAccount(request);
    const { approval, isNew } = await served.operator.refuseApproval({ approvalId, reason: "a slip" });
    expect([approval?.state, approval?.decidedBy, approval?.decisionReason, isNew]).toEqual([
      ApprovalState.REFUSED,
      OPERATOR,
      "a slip",
      true,
    ]);
    expect((await served.second.refuseApproval({ approvalId, reason: "a slip" })).isNew).toBe(false);
    const rules = ["approvalId approval.state"];
    expect(await refusal(served.second.grantApproval({ approvalId }))).toEqual({ code: "validation_error", rules });
    expect((await refusal(served.operator.creditAccount(request))).rules).toEqual(["idempotencyKey approval.state"]);
    expect(await available(accountId)).toBe("0");
  });

  test("expires", async () => {
    const accountId = await served.newCustomer();
    const { pendingApprovalId: approvalId } = await served.operator.creditAccount(credit(accountId));
    await served.asOwner(
      `ALTER TABLE operator_order DISABLE TRIGGER same_order;
       UPDATE operator_order SET expires_at = clock_timestamp() WHERE id = '${approvalId}';
       ALTER TABLE operator_order ENABLE ALWAYS TRIGGER same_order`,
    );
    expect((await refusal(served.second.grantApproval({ approvalId }))).rules).toEqual(["approvalId approval.state"]);
    const { approvals } = await served.operator.listApprovals({ state: ApprovalState.EXPIRED });
    expect(approvals.map(({ id }) => id)).toEqual([approvalId]);
    expect(await available(accountId)).toBe("0");
  });

  test("whose name was used for another one is refused", async () => {
    const accountId = await served.newCustomer();
    const key = uuidv7();
    await served.operator.creditAccount(credit(accountId, "2000", key));
    const refused = await refusal(served.operator.creditAccount(credit(accountId, "3000", key)));
    expect(refused.rules).toEqual(["idempotencyKey credit.reference"]);
  });

  test("that cannot be carried out stays pending, and shows why", async () => {
    const accountId = await served.newCustomer();
    const command = { ...credit(accountId, "-2000"), idempotencyKey: uuidv7() };
    const { pendingApprovalId: approvalId } = await served.operator.adjustAccount(command);
    expect((await refusal(served.second.grantApproval({ approvalId }))).code).toBe("insufficient_balance");
    const { approvals } = await served.second.listApprovals({ state: ApprovalState.PENDING });
    expect(approvals.map(({ id }) => id)).toContain(approvalId);
  });

  test("cannot be decided by the database's own serving role against its operator", async () => {
    const accountId = await served.newCustomer();
    const { pendingApprovalId: approvalId } = await served.operator.creditAccount(credit(accountId));
    const approve = (by: string) =>
      served.database.pool.query(
        "UPDATE operator_order SET state = 'approved', decided_by = $2, decided_at = now() WHERE id = $1",
        [approvalId, by],
      );
    await expect(approve(OPERATOR.toUpperCase())).rejects.toThrow("operator_order_second");
    const other = "UPDATE operator_order SET payload = '{}' WHERE id = $1";
    await expect(served.database.pool.query(other, [approvalId])).rejects.toThrow("permission denied");
  });

  test("is a credit note, too, whatever it is written as", async () => {
    const accountId = await served.newCustomer();
    const charge = parseMoney("1500", IDR).units;
    const requestId = await billRequest(served.database, { accountId, charge });
    const before = await available(accountId);
    const first = await served.operator.creditUsage({ requestId, reason: "a wrong answer" });
    const again = await served.operator.creditUsage({ requestId, reason: "a wrong answer" });
    expect(first.pendingApprovalId).not.toBe("");
    expect(again.pendingApprovalId).toBe(first.pendingApprovalId);
    expect(await available(accountId)).toBe(before);
    await served.second.grantApproval({ approvalId: first.pendingApprovalId });
    expect(Number(await available(accountId)) - Number(before)).toBe(1500);
  });
});

describe("a merchant's credit", () => {
  const coins = (merchantId: string) => ({
    merchantId,
    currencyCode: "USDT",
    amount: "0.5",
    reason: "came in",
    idempotencyKey: uuidv7(),
  });

  test("in production waits, however small it is", async () => {
    const merchantId = await merchantOf(await served.newCustomer());
    const { pendingApprovalId: approvalId } = await served.operator.creditMerchant(coins(merchantId));
    expect(await listBalances(served.database, merchantId)).toEqual([]);
    await served.second.grantApproval({ approvalId });
    expect(await listBalances(served.database, merchantId)).toMatchObject([{ currencyCode: "USDT", available: "0.5" }]);
  });

  test("in the sandbox does not", async () => {
    const merchantId = await merchantOf(await served.newCustomer(), "sandbox");
    expect(await served.operator.creditMerchant(coins(merchantId))).toMatchObject({
      pendingApprovalId: "",
      available: "0.5",
    });
  });
});

describe("a merchant's limit", () => {
  test("in the sandbox is set at once, and a looser one in production waits", async () => {
    const wanted = { currencyCode: "USDT", daily: "7.50", approvalAbove: "0" };
    const inSandbox = await merchantOf(await served.newCustomer(), "sandbox");
    const { limit, pendingApprovalId } = await served.operator.setLimit({ ...wanted, merchantId: inSandbox });
    expect(limit).toMatchObject({ daily: "7.5", approvalAbove: "0", usedToday: "0" });
    expect([limit?.perTransfer, pendingApprovalId]).toEqual([undefined, ""]);
    const merchantId = await merchantOf(await served.newCustomer());
    await served.operator.setLimit({ ...wanted, merchantId });
    const looser = await served.operator.setLimit({ ...wanted, merchantId, daily: "8" });
    expect(looser.limit).toBeUndefined();
    await served.second.grantApproval({ approvalId: looser.pendingApprovalId });
    const limits = await listLimits(served.database, merchantId);
    expect(limits.find(({ currencyCode }) => currencyCode === "USDT")).toMatchObject({ daily: "8" });
  });
});

describe("a transfer that waits for approval", () => {
  const waiting = async (merchantId: string, amountText: string): Promise<string> => {
    await creditMerchant(served.database, { merchantId, currencyCode: "USDT", amountText: "10000" });
    await withTransaction(served.database, (client) =>
      client.query("UPDATE merchant_limit SET approval_above = 0 WHERE merchant_id = $1", [merchantId]),
    );
    const order = { merchantId, environment: "production", currencyCode: "USDT", amountText } as const;
    return (await orderTransfer(served.database, order)).transfer.transferId;
  };

  test("is approved by one operator up to the sum, and by two above it", async () => {
    const merchantId = await merchantOf(await served.newCustomer());
    const [small, large] = [await waiting(merchantId, "10"), await waiting(merchantId, "10.01")];
    const done = await served.operator.approveTransfer({ transferId: small, reason: "known" });
    expect([done.pendingApprovalId, done.transfer?.transfer?.status]).toEqual(["", "PENDING"]);
    const { pendingApprovalId: approvalId, transfer } = await served.operator.approveTransfer({
      transferId: large,
      reason: "known",
    });
    expect([approvalId === "", transfer?.transfer?.status, transfer?.awaitsApproval]).toEqual([false, "WAITING", true]);
    await served.second.grantApproval({ approvalId });
    const shown = await served.operator.getTransfer({ transferId: large });
    expect(shown.transfer?.transfer?.status).toBe("PENDING");
  });

  test("is not approved by the operator who ordered it", async () => {
    const create = { email: OPERATOR, openAccount };
    const { accountId } = await withTransaction(served.database, (client) => createCustomer(client, create));
    const transferId = await waiting(await merchantOf(accountId), "5");
    const refused = await refusal(served.operator.approveTransfer({ transferId, reason: "mine" }));
    expect(refused).toEqual({ code: "validation_error", rules: ["transferId approval.second_person"] });
    expect((await served.second.approveTransfer({ transferId, reason: "not mine" })).pendingApprovalId).toBe("");
  });
});

test("limits that let a production merchant do more are looser, and those that let it do less are not", async () => {
  const merchantId = await merchantOf(await served.newCustomer());
  const looser = (perTransfer: string, daily: string, approvalAbove: string): Promise<boolean> =>
    isLooser(served.database.pool, { merchantId, currencyCode: "USDT", perTransfer, daily, approvalAbove });
  expect(await looser("10000", "50000", "1000")).toBe(false);
  expect(await looser("9999", "1", "0")).toBe(false);
  expect(await Promise.all([looser("10001", "50000", "1000"), looser("1", "", "1"), looser("1", "1", "1001")])).toEqual(
    [true, true, true],
  );
});
