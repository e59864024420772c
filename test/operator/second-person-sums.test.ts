// The limit above which another operator approves counts an operator's commands of a day together, so that splitting gains
// nothing.

import { afterAll, beforeAll, expect, test } from "vitest";
import { withTransaction } from "../../src/database/transactions.ts";
import { parseMoney, IDR } from "../../src/kernel/money.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { createMerchant, creditMerchant } from "../../src/merchant/merchants/merchants.ts";
import { orderTransfer } from "../merchant/merchant-accounts.ts";
import { billRequest } from "./billed-request.ts";
import { OPERATOR, refusal, SECOND, serveOperator, type ServedOperator } from "./operator-calls.ts";

let served: ServedOperator;
let accountId: string;
beforeAll(async () => {
  served = await serveOperator({ secondPerson: { above: { IDR: "1000", USDT: "10" } } });
  accountId = await served.newCustomer();
});
afterAll(() => served.stop());

const available = async (): Promise<number> =>
  Number((await served.operator.getAccount({ accountId })).account?.balance?.available);
const command = (amount: string) => ({ accountId, amount, reason: "a bank transfer", idempotencyKey: uuidv7() });
const forgetDay = () => served.asOwner("DELETE FROM ordered_alone");

test("an operator goes on alone up to the sum", async () => {
  await forgetDay();
  const before = await available();
  for (const amount of ["1", "999"]) {
    expect((await served.operator.creditAccount(command(amount))).pendingApprovalId).toBe("");
  }
  expect(await available()).toBe(before + 1000);
});

test("orders of one operator count together, whatever kind they are, and the one that passes the sum waits", async () => {
  await forgetDay();
  const before = await available();
  const first = command("600");
  expect((await served.operator.creditAccount(first)).pendingApprovalId).toBe("");
  expect((await served.operator.adjustAccount(command("-300"))).pendingApprovalId).toBe("");
  const requestId = await billRequest(served.database, { accountId, charge: parseMoney("200", IDR).units });
  const billed = await available();
  const noted = await served.operator.creditUsage({ requestId, reason: "a wrong answer" });
  expect(noted.pendingApprovalId).not.toBe("");
  const last = command("101");
  const { pendingApprovalId: approvalId } = await served.operator.creditAccount(last);
  expect(approvalId).not.toBe("");
  expect(await available()).toBe(billed);
  expect(billed).toBeGreaterThanOrEqual(before + 300 - 200);
  // A command that was carried out keeps its result under its name, and up to the limit the operator needs no approval.
  expect((await served.operator.creditAccount(first)).posting?.isNew).toBe(false);
  expect((await served.operator.creditAccount(command("100"))).pendingApprovalId).toBe("");
  // Another operator has a limit of the own, and approved commands count for neither.
  expect((await served.second.grantApproval({ approvalId })).isNew).toBe(true);
  expect((await served.second.creditAccount(command("1000"))).pendingApprovalId).toBe("");
});

test("orders of one operator at once do not pass the sum together", async () => {
  await forgetDay();
  const before = await available();
  const answers = await Promise.all(Array.from({ length: 8 }, () => served.operator.creditAccount(command("300"))));
  expect(answers.filter(({ pendingApprovalId }) => pendingApprovalId === "")).toHaveLength(3);
  expect(await available()).toBe(before + 900);
});

test("an order waits for another one of its operator that takes long", async () => {
  await forgetDay();
  await served.operator.creditAccount(command("1"));
  const held = Promise.withResolvers<void>();
  const other = withTransaction(served.database, async (client) => {
    await client.query("SELECT FROM ordered_alone FOR UPDATE");
    held.resolve();
    // Longer than a request of the serving role waits for a lock by itself.
    await client.query("SELECT pg_sleep(0.6)");
  });
  await held.promise;
  expect((await served.operator.creditAccount(command("1"))).pendingApprovalId).toBe("");
  await other;
});

test("orders count for 24 hours", async () => {
  await forgetDay();
  expect((await served.operator.creditAccount(command("1000"))).pendingApprovalId).toBe("");
  const age = (span: string) =>
    served.asOwner(`UPDATE ordered_alone SET minutes = ARRAY[clock_timestamp() - interval '${span}']`);
  await age("23 hours 59 minutes");
  expect((await served.operator.creditAccount(command("1"))).pendingApprovalId).not.toBe("");
  await age("24 hours 2 minutes");
  expect((await served.operator.creditAccount(command("1000"))).pendingApprovalId).toBe("");
});

test("an order that waited for the sum is not carried out alone a day later, and never after it was refused", async () => {
  await forgetDay();
  await served.operator.creditAccount(command("900"));
  const [waiting, refused] = [command("200"), command("200")];
  const { pendingApprovalId } = await served.operator.creditAccount(waiting);
  const { pendingApprovalId: approvalId } = await served.operator.creditAccount(refused);
  await served.second.refuseApproval({ approvalId, reason: "unknown" });
  await forgetDay();
  const before = await available();
  expect((await served.operator.creditAccount(waiting)).pendingApprovalId).toBe(pendingApprovalId);
  expect((await refusal(served.operator.creditAccount(refused))).rules).toEqual(["idempotencyKey approval.state"]);
  expect(await available()).toBe(before);
});

test("approvals of transfers count together by currency", async () => {
  await forgetDay();
  const { merchantId } = await createMerchant(served.database, { accountId, environment: "production" });
  await creditMerchant(served.database, { merchantId, currencyCode: "USDT", amountText: "10000" });
  await withTransaction(served.database, (client) =>
    client.query("UPDATE merchant_limit SET approval_above = 0 WHERE merchant_id = $1", [merchantId]),
  );
  const approve = async (amountText: string): Promise<string> => {
    const wanted = { merchantId, environment: "production", currencyCode: "USDT", amountText } as const;
    const { transferId } = (await orderTransfer(served.database, wanted)).transfer;
    return (await served.operator.approveTransfer({ transferId, reason: "known" })).pendingApprovalId;
  };
  expect(await approve("6")).toBe("");
  const approvalId = await approve("6");
  expect(approvalId).not.toBe("");
  expect(await approve("4")).toBe("");
  expect((await served.operator.creditAccount(command("1000"))).pendingApprovalId).toBe("");
  expect((await served.second.grantApproval({ approvalId })).approval?.decidedBy).toBe(SECOND);
  expect((await served.second.listApprovals({})).approvals[0]?.requestedBy).toBe(OPERATOR);
});
