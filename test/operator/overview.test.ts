// The operators' first page: every figure against the books, and every count against the list that it leads to. And names of accounts.

import { afterAll, beforeAll, expect, test } from "vitest";
import { withTransaction } from "../../src/database/transactions.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { IDR, parseMoney } from "../../src/kernel/money.ts";
import { creditAccount } from "../../src/ledger/credits.ts";
import { readMoneyFlows } from "../../src/ledger/money-flows.ts";
import { systemAccounts } from "../../src/ledger/system-accounts.ts";
import { haltWallet, openWallet } from "../../src/merchant/payouts/wallet-store.ts";
import { createMerchant, creditMerchant } from "../../src/operator/commands/merchants.ts";
import { setLimits } from "../../src/operator/commands/transfers.ts";
import { carryOutOrStore } from "../../src/operator/second-person/approvals.ts";
import { orderTransfer } from "../merchant/merchant-accounts.ts";
import { openTopUp } from "./opened-top-up.ts";
import { refusal, serveOperator, type ServedOperator } from "./operator-calls.ts";

let served: ServedOperator;
beforeAll(async () => {
  served = await serveOperator();
});
afterAll(() => served.stop());

const by = () => ({ database: served.database, operator: "set-up" });

/** What a provider has collected for a customer. */
async function pay(accountId: string, amount: string): Promise<void> {
  const units = parseMoney(amount, IDR).units;
  await withTransaction(served.database, (client) =>
    creditAccount(client, { accountId, amount: units, from: systemAccounts.providerClearing, reason: "top_up" }),
  );
}

test("accounts are named by their ids and by their addresses in any case, each once; unknown ones are left out", async () => {
  const { operator, member } = served;
  const [first, second] = [
    await served.newCustomer("Ani@Names.example"),
    await served.newCustomer("budi@names.example"),
  ];
  const asked = {
    accountIds: [first.toUpperCase(), uuidv7()],
    emails: ["ANI@names.example", "BUDI@names.example", "names.example", "%"],
  };
  const { accounts } = await operator.nameAccounts(asked);
  expect(accounts).toHaveLength(2);
  expect(new Map(accounts.map(({ id, email }) => [id, email]))).toEqual(
    new Map([
      [first, "Ani@Names.example"],
      [second, "budi@names.example"],
    ]),
  );
  expect((await operator.nameAccounts({})).accounts).toEqual([]);
  expect((await refusal(operator.nameAccounts({ accountIds: Array.from({ length: 101 }, () => first) }))).code).toBe(
    "validation_error",
  );
  expect((await refusal(operator.nameAccounts({ accountIds: ["ani"] }))).code).toBe("validation_error");
  expect((await refusal(member.nameAccounts({ emails: ["ani@names.example"] }))).code).not.toBe("");
});

test("money in and out comes to the clearing accounts of the trial balance, today's and the week's", async () => {
  const { operator, database } = served;
  const empty = await operator.getOverview({});
  const accountId = await served.newCustomer();
  const { merchantId } = await createMerchant(by(), { accountId, environment: "production" });
  await pay(accountId, "150000.25");
  await pay(accountId, "10000");
  const credit = { merchantId, currencyCode: "TRX", amountText: "12.5", reason: "in", reference: uuidv7() };
  await creditMerchant(by(), credit);
  const { flows, flowsComplete } = await operator.getOverview({});
  expect(flowsComplete).toBe(true);
  expect(flows[0]?.currencyCode).toBe("IDR");
  expect(empty.flows[0]?.currencyCode).toBe("IDR");
  const { rows } = await operator.getTrialBalance({});
  for (const { currencyCode, todayIn, todayOut, weekIn, weekOut } of flows) {
    // Everything of this database was posted just now; around midnight the day may be a new one, the week is the same.
    const own = rows.filter((row) => row.asset.startsWith(`${currencyCode}/`) && row.class.endsWith("_clearing"));
    expect(own.length, currencyCode).toBeGreaterThan(0);
    const asset = own[0]?.asset ?? "";
    const unitsOf = (text: string): bigint => parseMoney(text, asset as typeof IDR).units;
    expect(unitsOf(weekIn)).toBe(own.reduce((sum, { debits }) => sum + unitsOf(debits), 0n));
    expect(unitsOf(weekOut)).toBe(own.reduce((sum, { credits }) => sum + unitsOf(credits), 0n));
    expect(unitsOf(todayIn)).toBeLessThanOrEqual(unitsOf(weekIn));
    expect(unitsOf(todayOut)).toBeLessThanOrEqual(unitsOf(weekOut));
  }
  expect(flows.find(({ currencyCode }) => currencyCode === "IDR")?.weekIn).toBe("160000.25");
  expect(flows.find(({ currencyCode }) => currencyCode === "TRX")?.weekIn).toBe("12.5");

  const now = Date.now();
  const read = (weekFromMs: number, todayFromMs: number, most?: number) =>
    readMoneyFlows(database.pool, { weekFromMs, todayFromMs }, most);
  const ofRupiah = async (times: ReturnType<typeof read>) => (await times).flows.find(({ asset }) => asset === IDR);
  expect(await ofRupiah(read(0, now + 60_000))).toMatchObject({
    todayIn: 0n,
    weekIn: parseMoney("160000.25", IDR).units,
  });
  expect((await read(now + 60_000, now + 60_000)).flows).toEqual([]);
  const cut = await read(0, 0, 1);
  expect(cut.isComplete).toBe(false);
  // One posting of each side is read; two of one millisecond have any order.
  const oneOfBoth = ["10000", "150000.25"].map((amount) => parseMoney(amount, IDR).units);
  expect(oneOfBoth).toContain(cut.flows.find(({ asset }) => asset === IDR)?.weekIn);
});

test("what waits for a decision is counted as its lists have it", async () => {
  const { operator, database } = served;
  const decisions = async () => {
    const { decisions: read } = await operator.getOverview({});
    if (read === undefined) throw new Error("the overview counts decisions");
    const { $typeName: _type, ...counts } = read;
    return counts;
  };
  const none = { approvals: 0, topUps: 0, transfers: 0, stoppedWallets: 0, payoutStops: 0, auditViolations: 0 };
  expect(await decisions()).toEqual({ ...none, admissionStopped: false, sellerMissing: false });

  const accountId = await served.newCustomer();
  const wanted = { accountId, amount: 1n, reason: "set-up", reference: uuidv7() };
  await carryOutOrStore({ by: by(), rule: { above: {} } }, "account credit", wanted);
  const topUpId = await openTopUp(database, { accountId });
  await served.asOwner(`UPDATE top_up SET problem = 'another amount' WHERE id = '${topUpId}'`);
  const { merchantId } = await createMerchant(by(), { accountId, environment: "sandbox" });
  const coins = { currencyCode: "TRX", amountText: "1000", reason: "set-up", reference: uuidv7() };
  await creditMerchant(by(), { merchantId, ...coins });
  const limits = { currencyCode: "TRX", perTransfer: "", daily: "", approvalAbove: "0", reason: "set-up" };
  await setLimits(by(), { merchantId, ...limits });
  await orderTransfer(database, { merchantId });
  const wallet = await openWallet(database.pool, { chain: "sandbox", address: "sandbox-hot-wallet", nextNonce: 0 });
  await haltWallet(database.pool, wallet.walletId, "another program has used the key");
  await operator.stopPayouts({ chain: "bsc", reason: "an incident" });
  await operator.stopAdmission({ reason: "an incident" });
  expect(await decisions()).toEqual({
    approvals: 1,
    topUps: (await operator.listTopUps({ onlyProblems: true })).topUps.length,
    transfers: (await operator.listTransfers({ onlyAwaitingApproval: true })).transfers.length,
    stoppedWallets: 1,
    payoutStops: 1,
    auditViolations: 0,
    admissionStopped: true,
    sellerMissing: false,
  });
  served.missSeller(true);
  expect(await decisions()).toMatchObject({ sellerMissing: true });
  served.missSeller(false);
  expect(await decisions()).toMatchObject({ topUps: 1, transfers: 1 });
});

test("open holds are counted with their sum and the oldest", async () => {
  const { operator } = served;
  expect((await operator.getOverview({})).holds).toMatchObject({ requests: 0, amount: "0" });
  const accountId = await served.newCustomer();
  const place = (amount: number, age: string): string =>
    `INSERT INTO hold (account_id, id, owner, amount, key_id, model, input_price, output_price, placed_at)
     VALUES ('${accountId}', '${uuidv7()}', '${uuidv7()}', ${amount}, '${uuidv7()}', 'demo/small', 0, 0, now() - interval '${age}');`;
  await served.asOwner(`BEGIN; ${place(1_500_000, "1 minute")} ${place(250_000, "3 minutes")} COMMIT`);
  const { holds } = await operator.getOverview({});
  expect(holds).toMatchObject({ requests: 2, amount: "1.75" });
  const age = Date.now() - Number(holds?.oldestAt?.seconds ?? 0) * 1_000;
  expect(age).toBeGreaterThan(170_000);
});
