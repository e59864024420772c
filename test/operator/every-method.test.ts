// Every method of the operators' services, also future ones: a method that changes something writes one line with its operator, a
// method that reads writes none, and only operators are admitted.

import type { DescMethod } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel, type Timestamp } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { IDR, parseMoney } from "../../src/kernel/money.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { haltWallet, openWallet } from "../../src/merchant/payouts/wallet-store.ts";
import { createMerchant, creditMerchant } from "../../src/operator/commands/merchants.ts";
import { carryOutOrStore } from "../../src/operator/second-person/approvals.ts";
import { setLimits } from "../../src/operator/commands/transfers.ts";
import { services } from "../../src/transport/calls/services.ts";
import { orderTransfer } from "../merchant/merchant-accounts.ts";
import { billRequest } from "./billed-request.ts";
import { openTopUp } from "./opened-top-up.ts";
import { OPERATOR, refusal, serveOperator, type ServedOperator } from "./operator-calls.ts";

const YAML = `models: []
upstreams: [{ id: local, base_url: "https://llm.example.com/v1" }]`;

let served: ServedOperator;
let accountId: string;
let requestId: string;
let merchantId: string;
let topUpId: string;
/** Since when the wallet is stopped. */
let stoppedAt: Timestamp | undefined;
/** Two that wait for approval. */
let transferIds: string[];
/** Pending commands of another operator. */
let approvalIds: string[];
beforeAll(async () => {
  served = await serveOperator();
  accountId = await served.newCustomer();
  requestId = await billRequest(served.database, { accountId, charge: parseMoney("5", IDR).units });
  topUpId = await openTopUp(served.database, { accountId });
  const by = { database: served.database, operator: "set-up" };
  // Not the account that is frozen here.
  ({ merchantId } = await createMerchant(by, { accountId: await served.newCustomer(), environment: "sandbox" }));
  await creditMerchant(by, {
    merchantId,
    currencyCode: "TRX",
    amountText: "1000",
    reason: "set-up",
    reference: uuidv7(),
  });
  const limits = { currencyCode: "TRX", perTransfer: "", daily: "", approvalAbove: "0", reason: "set-up" };
  await setLimits(by, { merchantId, ...limits });
  transferIds = [await orderWaiting(), await orderWaiting()];
  approvalIds = [await storeCommand(), await storeCommand(), await storeCommand(), await storeCommand()];
  await stopWallet();
});
afterAll(() => served.stop());

/** A transfer that waits for approval. */
async function orderWaiting(): Promise<string> {
  return (await orderTransfer(served.database, { merchantId })).transfer.transferId;
}

/** A pending command of another operator. */
async function storeCommand(): Promise<string> {
  const by = { database: served.database, operator: "set-up" };
  const wanted = { accountId, amount: 1n, reason: "set-up", reference: uuidv7() };
  return (await carryOutOrStore({ by, rule: { above: {} } }, "account credit", wanted)).pendingApprovalId;
}

/** Stops the sandbox's wallet as if another program had used its key. */
async function stopWallet(): Promise<void> {
  const { pool } = served.database;
  const wallet = await openWallet(pool, { chain: "sandbox", address: "sandbox-hot-wallet", nextNonce: 0 });
  await haltWallet(pool, wallet.walletId, "another program has used the key");
  const [stopped] = (await served.operator.listPayoutWallets({})).wallets;
  ({ stoppedAt } = stopped ?? {});
}

const methods: readonly DescMethod[] = Object.values(services)
  .filter(({ typeName }) => typeName.startsWith("saldo.operator.v1."))
  .flatMap((service) => service.methods);
const isRead = ({ idempotency }: DescMethod): boolean => idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;

/** A request with an effect for each method; a method without one fails here. */
const requests: Readonly<Record<string, () => unknown>> = {
  getCatalog: () => ({}),
  previewCatalog: () => ({ draft: { content: { case: "yaml", value: YAML } } }),
  publishCatalog: () => ({ draft: { content: { case: "yaml", value: YAML } }, reason: "first" }),
  listCatalogVersions: () => ({}),
  getCatalogVersion: () => ({ number: 1 }),
  listUpstreams: () => ({}),
  listAccounts: () => ({}),
  nameAccounts: () => ({ accountIds: [accountId], emails: [OPERATOR] }),
  getAccount: () => ({ accountId }),
  creditAccount: () => ({ accountId, amount: "1000", reason: "a transfer", idempotencyKey: uuidv7() }),
  adjustAccount: () => ({ accountId, amount: "-1.5", reason: "a slip", idempotencyKey: uuidv7() }),
  freezeAccount: () => ({ accountId, reason: "a stolen card" }),
  unfreezeAccount: () => ({ accountId }),
  setAccountLimit: () => ({ accountId, maxOpenRequests: 7 }),
  recountAccount: () => ({ accountId, reason: "the audit found it" }),
  creditUsage: () => ({ requestId, reason: "a wrong answer" }),
  listTopUps: () => ({}),
  getTopUp: () => ({ topUpId }),
  verifyTopUp: () => ({ topUpId, reason: "the customer asks" }),
  listTransfers: () => ({}),
  getTransfer: () => ({ transferId: transferIds[0] }),
  approveTransfer: () => ({ transferId: transferIds[0], reason: "known to us" }),
  rejectTransfer: () => ({ transferId: transferIds[1], reason: "wrong recipient" }),
  listPayoutWallets: () => ({}),
  resumePayoutWallet: () => ({ chain: "sandbox", stoppedAt, reason: "it was us" }),
  stopPayouts: () => ({ chain: "bsc", reason: "an incident" }),
  startPayouts: () => ({ chain: "bsc", reason: "it is over" }),
  listApprovals: () => ({}),
  grantApproval: () => ({ approvalId: approvalIds[0] }),
  refuseApproval: () => ({ approvalId: approvalIds[1], reason: "the reason is unknown" }),
  listFees: () => ({}),
  setFee: () => ({ merchantId, currencyCode: "TRX", terms: { flat: "1", rate: "0.01" } }),
  previewFee: () => ({ currencyCode: "TRX", amount: "10" }),
  listMerchants: () => ({}),
  setLimit: () => ({ merchantId, currencyCode: "TRX", daily: "5000", approvalAbove: "0" }),
  creditMerchant: () => ({ merchantId, currencyCode: "TRX", amount: "5", reason: "in", idempotencyKey: uuidv7() }),
  getOverview: () => ({}),
  getTrialBalance: () => ({}),
  listPostings: () => ({}),
  getPostingGroup: () => ({ groupId: requestId }),
  getSettings: () => ({}),
  updateSettings: () => ({ settings: { welcomeCredit: "5000" } }),
  getAdmission: () => ({}),
  stopAdmission: () => ({ reason: "a price was a slip" }),
  startAdmission: () => ({}),
  listAudits: () => ({}),
  listOperatorActions: () => ({}),
  reportMargin: () => ({ from: "2026-11-20", to: "2026-11-21" }),
};

/** Requests that change something although the first was carried out. */
const changing: Readonly<Record<string, () => Promise<object>>> = {
  publishCatalog: async () => ({
    baseVersion: (await served.operator.listCatalogVersions({})).versions[0]?.number ?? 0,
    draft: { content: { case: "yaml", value: YAML.replace("id: local", "id: other") } },
  }),
  setAccountLimit: async () => ({ accountId, maxOpenRequests: 8 }),
  creditUsage: async () => ({
    requestId: await billRequest(served.database, { accountId, charge: parseMoney("5", IDR).units }),
  }),
  updateSettings: async () => ({ settings: { welcomeCredit: "6000" } }),
  setFee: async () => ({ merchantId, currencyCode: "TRX", terms: { flat: "2", rate: "0.01" } }),
  approveTransfer: async () => ({ transferId: await orderWaiting() }),
  rejectTransfer: async () => ({ transferId: await orderWaiting() }),
  grantApproval: () => Promise.resolve({ approvalId: approvalIds[2] }),
  refuseApproval: () => Promise.resolve({ approvalId: approvalIds[3] }),
};

/** Methods that the account reads of in its own log. */
const IN_ACCOUNT: ReadonlySet<string> = new Set([
  "creditAccount",
  "adjustAccount",
  "freezeAccount",
  "unfreezeAccount",
  "setAccountLimit",
  "creditUsage",
  "verifyTopUp",
  "approveTransfer",
  "rejectTransfer",
  "grantApproval",
  "setFee",
  "setLimit",
  "creditMerchant",
]);
/** Those that change something and are in no account's log, with the reason. */
const IN_NO_ACCOUNT: Readonly<Record<string, string>> = {
  publishCatalog: "of the whole service",
  recountAccount: "a repaired count of ours",
  resumePayoutWallet: "of the whole service",
  stopPayouts: "of the whole service",
  startPayouts: "of the whole service",
  refuseApproval: "nothing is changed",
  updateSettings: "of the whole service",
  stopAdmission: "of the whole service",
  startAdmission: "of the whole service",
};
const activity = async (): Promise<number> =>
  (await served.database.pool.query<{ lines: number }>("SELECT count(*)::int AS lines FROM account_activity")).rows[0]
    ?.lines ?? -1;

type Call = (request: unknown) => Promise<unknown>;
const callOf = (client: object, { localName }: DescMethod): Call => (client as Record<string, Call>)[localName] as Call;
const requestOf = ({ localName }: DescMethod): unknown => {
  const request = requests[localName];
  if (request === undefined) throw new Error(`${localName} has no request in this test`);
  return request();
};

describe("every method of operators", () => {
  test.each(methods.map((method) => [method.localName, method] as const))(
    "%s writes a line for what it changes, and only then",
    async (name, method) => {
      // The damage that recounting corrects.
      if (name === "recountAccount") {
        await served.database.pool.query("UPDATE account SET open_holds = 3 WHERE id = $1", [accountId]);
      }
      expect([isRead(method), IN_ACCOUNT.has(name), name in IN_NO_ACCOUNT].filter(Boolean)).toHaveLength(1);
      const shownBefore = await activity();
      const before = await served.actions();
      await callOf(served.operator, method)(requestOf(method));
      expect((await activity()) - shownBefore).toBe(IN_ACCOUNT.has(name) ? 1 : 0);
      const { count, newest } = await served.actions();
      // An approved command has a line of its own, with the operator who gave it.
      expect(count - before.count).toBe(isRead(method) ? 0 : name === "grantApproval" ? 2 : 1);
      expect(newest?.operator).toBe(count === before.count ? before.newest?.operator : OPERATOR);
    },
  );

  test.each(methods.map((method) => [method.localName, method] as const))(
    "%s admits only operators, and leaves no line of an attempt",
    async (_name, method) => {
      const before = await served.actions();
      const member = await refusal(callOf(served.member, method)(requestOf(method)));
      expect(member.code).toBe("permission_denied");
      const stranger = await refusal(callOf(served.grpc, method)(requestOf(method)));
      expect(stranger.code).toBe("invalid_api_key");
      expect(await served.actions()).toEqual(before);
    },
  );

  const withReason = methods.filter(({ input }) => input.fields.some(({ localName }) => localName === "reason"));
  test.each(withReason.map((method) => [method.localName, method] as const))(
    "%s refuses a blank reason, and then does nothing",
    async (name, method) => {
      // The rows that recounting, opening and resuming would change.
      if (name === "recountAccount") {
        await served.database.pool.query("UPDATE account SET open_holds = 3 WHERE id = $1", [accountId]);
      }
      if (name === "unfreezeAccount") await served.operator.freezeAccount({ accountId, reason: "to thaw it" });
      if (name === "resumePayoutWallet") await stopWallet();
      if (name === "startPayouts") await served.operator.stopPayouts({ chain: "bsc", reason: "to start it" });
      if (name === "startAdmission") await served.operator.stopAdmission({ reason: "to start it" });
      const before = await served.actions();
      const request = { ...((await changing[name]?.()) ?? (requestOf(method) as object)), reason: "   " };
      const refused = await refusal(callOf(served.operator, method)(request));
      expect(refused).toEqual({ code: "validation_error", rules: ["reason reason.blank"] });
      expect(await served.actions()).toEqual(before);
    },
  );

  test("there is no request for a method that is not there", () => {
    const names: readonly string[] = methods.map(({ localName }) => localName);
    expect(Object.keys(requests).filter((name) => !names.includes(name))).toEqual([]);
  });

  test("the lines cannot be changed or removed by a serving process", async () => {
    for (const change of ["UPDATE operator_action SET operator = 'x'", "DELETE FROM operator_action"])
      await expect(served.database.pool.query(change)).rejects.toThrow("permission denied");
  });
});
