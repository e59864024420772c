// Transfers of all merchants: operators find, approve and reject them over the contract.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Environment } from "#gen/saldo/merchant/v1/merchant_pb.ts";
import { withTransaction } from "../../src/database/transactions.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { listBalances } from "../../src/merchant/merchants/merchants.ts";
import { WAITS_FOR_FUNDS } from "../../src/merchant/payouts/choose-transfers.ts";
import { moveTransfer } from "../../src/merchant/transfers/transfer-states.ts";
import { createMerchant, creditMerchant } from "../../src/operator/commands/merchants.ts";
import { setLimits } from "../../src/operator/commands/transfers.ts";
import { orderTransfer } from "../merchant/merchant-accounts.ts";
import { expectSoundBooks } from "../merchant/payouts/ordered.ts";
import { OPERATOR, refusal, serveOperator, type ServedOperator } from "./operator-calls.ts";

const REASON = "the merchant confirmed it";

let served: ServedOperator;
beforeAll(async () => {
  served = await serveOperator();
});
afterAll(async () => {
  await expectSoundBooks(served.database);
  await served.stop();
});

/** An account with a merchant that has 1000 TRX, all of whose transfers have to be approved. */
async function newMerchant(environment: "sandbox" | "production" = "sandbox") {
  const { database } = served;
  const by = { database, operator: "set-up" };
  const accountId = await served.newCustomer();
  const { merchantId } = await createMerchant(by, { accountId, environment });
  await creditMerchant(by, { merchantId, currencyCode: "TRX", amountText: "1000", reference: merchantId });
  const limits = { currencyCode: "TRX", perTransfer: "", daily: "", approvalAbove: "10", reason: null };
  await setLimits(by, { merchantId, ...limits });
  return {
    accountId,
    merchantId,
    /** Orders a transfer; above 10 TRX it waits for approval. */
    order: async (amountText: string, externalId = `order-${uuidv7()}`): Promise<string> =>
      (await orderTransfer(database, { merchantId, environment, amountText, externalId })).transfer.transferId,
    balance: async () => (await listBalances(database, merchantId))[0],
  };
}

describe("transfers of all merchants", () => {
  test("are found by what is known of them, newest first, page by page", async () => {
    const { operator } = served;
    const mine = await newMerchant();
    const real = await newMerchant("production");
    const waiting = await mine.order("11");
    const open = await mine.order("1", "invoice 7");
    const elsewhere = await real.order("1", "invoice 7");
    const find = async (request: Parameters<typeof operator.listTransfers>[0]) =>
      (await operator.listTransfers(request)).transfers.map(({ transfer }) => transfer?.id);
    expect(await find({ name: "invoice 7" })).toEqual([elsewhere, open]);
    expect(await find({ name: "invoice 7", environment: Environment.SANDBOX })).toEqual([open]);
    expect(await find({ name: waiting.toUpperCase() })).toEqual([waiting]);
    expect(await find({ name: "invoice" })).toEqual([]);
    expect(await find({ accountId: mine.accountId })).toEqual([open, waiting]);
    expect(await find({ merchantId: real.merchantId, status: "PENDING" })).toEqual([elsewhere]);
    expect(await find({ accountId: mine.accountId, onlyAwaitingApproval: true })).toEqual([waiting]);
    expect(await find({ accountId: real.accountId, onlyAwaitingApproval: true })).toEqual([]);
    expect(await find({ onlyAwaitingApproval: true })).toEqual([waiting]);
    const { transfers, nextPageToken } = await operator.listTransfers({ pageSize: 2 });
    expect(transfers).toMatchObject([
      {
        transfer: { id: elsewhere, environment: Environment.PRODUCTION },
        merchantId: real.merchantId,
        awaitsApproval: false,
      },
      { transfer: { id: open, environment: Environment.SANDBOX }, accountId: mine.accountId, awaitsApproval: false },
    ]);
    expect(await find({ pageSize: 2, pageToken: nextPageToken })).toEqual([waiting]);
    expect(await refusal(operator.listTransfers({ pageToken: "nonsense" }))).toMatchObject({
      code: "validation_error",
    });
  });

  test("are shown with everything there is of them, whosever they are", async () => {
    const { order, merchantId, accountId } = await newMerchant();
    const transferId = await order("12");
    const shown = await served.operator.getTransfer({ transferId });
    expect(shown.transfer).toMatchObject({ merchantId, accountId, awaitsApproval: true });
    expect(shown.statement).toMatchObject({
      held: "28.7",
      ledgerEntries: [],
      transfer: { status: "WAITING", history: [{ status: "WAITING", reason: "The transfer waits for approval." }] },
    });
    expect(await refusal(served.operator.getTransfer({ transferId: uuidv7() }))).toMatchObject({ code: "not_found" });
    expect((await refusal(served.member.getTransfer({ transferId }))).code).toBe("permission_denied");
  });
});

describe("a transfer that waits for approval", () => {
  test("goes on once it is approved, once, however often that is repeated", async () => {
    const { order, balance } = await newMerchant();
    const transferId = await order("12");
    expect((await refusal(served.member.approveTransfer({ transferId, reason: REASON }))).code).toBe(
      "permission_denied",
    );
    const approve = (reason = REASON) => served.operator.approveTransfer({ transferId, reason });
    expect(await refusal(approve(""))).toMatchObject({ code: "validation_error" });
    const answers = await Promise.all([approve(), approve(), approve()]);
    expect(answers.filter(({ isNew }) => isNew)).toHaveLength(1);
    for (const { transfer } of answers) {
      expect(transfer).toMatchObject({ awaitsApproval: false, transfer: { id: transferId, status: "PENDING" } });
    }
    expect(await balance()).toMatchObject({ available: "971.3", held: "28.7" });
    await withTransaction(served.database, (client) =>
      moveTransfer(client, { transferId, from: ["PENDING"], to: "SUBMITTED", transactionHash: "0x1" }),
    );
    expect(await approve()).toMatchObject({ isNew: false, transfer: { transfer: { status: "SUBMITTED" } } });
    expect(await served.linesOf(transferId)).toEqual([
      { operator: OPERATOR, action: "transfer approve", reason: REASON },
    ]);
  });

  test("stays approved though the clock of the node that approved it was behind", async () => {
    const { order } = await newMerchant();
    const transferId = await order("12");
    const approve = () => served.operator.approveTransfer({ transferId, reason: REASON });
    expect(await approve()).toMatchObject({ isNew: true });
    // An event of a minute before the first: ids begin with the time of the node that made them.
    await served.database.pool.query(
      `INSERT INTO transfer_event (id, transfer_id, status, confirmations) VALUES ($1::uuid, $2::uuid, 'PENDING', 0)`,
      [uuidv7(Date.now() - 60_000), transferId],
    );
    expect(await approve()).toMatchObject({ isNew: false });
    expect(await served.linesOf(transferId)).toHaveLength(1);
  });

  test("gives its funds back once it is rejected, once, however often that is repeated", async () => {
    const { order, balance } = await newMerchant();
    const transferId = await order("12");
    expect((await refusal(served.member.rejectTransfer({ transferId, reason: "no" }))).code).toBe("permission_denied");
    const reject = (reason: string) => served.operator.rejectTransfer({ transferId, reason });
    const answers = await Promise.all([reject("Wrong recipient."), reject("Wrong recipient.")]);
    expect(answers.filter(({ isNew }) => isNew)).toHaveLength(1);
    expect(await reject("Another reason.")).toMatchObject({
      isNew: false,
      transfer: { awaitsApproval: false, transfer: { status: "REJECTED", reason: "Wrong recipient." } },
    });
    expect(await balance()).toMatchObject({ available: "1000", held: "0" });
    expect(await served.linesOf(transferId)).toEqual([
      { operator: OPERATOR, action: "transfer reject", reason: "Wrong recipient." },
    ]);
    const late = await refusal(served.operator.approveTransfer({ transferId, reason: REASON }));
    expect(late).toEqual({ code: "validation_error", rules: ["id transfer.awaits_approval"] });
  });

  test("is approved or rejected, never both ways at the same time", async () => {
    const { order, balance } = await newMerchant();
    const transferId = await order("12");
    const [approved, rejected] = await Promise.allSettled([
      served.operator.approveTransfer({ transferId, reason: REASON }),
      served.operator.rejectTransfer({ transferId, reason: "No." }),
    ]);
    // An approved transfer may be rejected before it is signed; a rejected transfer cannot be approved.
    expect(rejected.status).toBe("fulfilled");
    const lines = (await served.linesOf(transferId)).map(({ action }) => action);
    expect(lines).toEqual(
      approved.status === "fulfilled" ? ["transfer reject", "transfer approve"] : ["transfer reject"],
    );
    expect(await balance()).toMatchObject({ available: "1000", held: "0" });
  });
});

test("what never waited for approval is not approved, and what was sent is not rejected", async () => {
  const { order, balance } = await newMerchant();
  const transferId = await order("1");
  const approval = await refusal(served.operator.approveTransfer({ transferId, reason: REASON }));
  expect(approval).toEqual({ code: "validation_error", rules: ["id transfer.awaits_approval"] });
  // Nor is a transfer that waits for coins.
  for (const move of [
    { from: ["PENDING"], to: "WAITING", reason: WAITS_FOR_FUNDS },
    { from: ["WAITING"], to: "PENDING" },
  ] as const) {
    await withTransaction(served.database, (client) => moveTransfer(client, { transferId, ...move }));
    expect(await refusal(served.operator.approveTransfer({ transferId, reason: REASON }))).toEqual(approval);
  }
  await withTransaction(served.database, (client) =>
    moveTransfer(client, { transferId, from: ["PENDING"], to: "SUBMITTED", transactionHash: "0x2" }),
  );
  const rejection = await refusal(served.operator.rejectTransfer({ transferId, reason: "No." }));
  expect(rejection).toEqual({ code: "validation_error", rules: ["id transfer.unsigned"] });
  expect(await served.linesOf(transferId)).toEqual([]);
  expect(await balance()).toMatchObject({ held: "17.7" });
});
