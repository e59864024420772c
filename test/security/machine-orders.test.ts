// Every method with which a machine orders money out × the limits, the approval threshold and the freezing of its merchant,
// against a service as it is started. The methods come from the contracts, by machine-methods.ts.

import { create } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ErrorFactsSchema } from "#gen/saldo/errors/v1/errors_pb.ts";
import { type Transfer, TransferSchema } from "#gen/saldo/merchant/v1/transfer_pb.ts";
import { withTransaction } from "../../src/database/transactions.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { freezeAccount } from "../../src/ledger/account-limits.ts";
import { type LimitChange, setLimits } from "../../src/merchant/merchants/limits.ts";
import { type ServedSaldo, serveSaldo } from "../app/clients/served-saldo.ts";
import { machinesOf, type MachineCredentials } from "./machine-caller.ts";
import { EXPECTED, type MachineMethod, machineMethods } from "./machine-methods.ts";

const ADDRESS = "TJRyWwFs9wTFGZg3JbrVriFbNfCug5tDeC";
const NO_LIMITS = { currencyCode: "TRX", perTransfer: "", daily: "", approvalAbove: "" };

let served: ServedSaldo;
let machines: ReturnType<typeof machinesOf>;
beforeAll(async () => {
  served = await serveSaldo();
  machines = machinesOf(served);
});
afterAll(() => served.stop());

const orderMethods = machineMethods.filter(({ name }) => EXPECTED[name]?.money === "orders a transfer");
// An order with a pair and one with a token: who calls is also who is limited.
const orderers = orderMethods.flatMap((each) => each.takes.map((kind) => ({ ...each, kind })));
type Orderer = MachineMethod & { readonly kind: (typeof orderers)[number]["kind"] };

/** A merchant of an account of its own with coins and limits, and the credentials that order for it. */
async function newOrderer({ kind }: Orderer, limits: Partial<LimitChange>) {
  const { accountId } = await served.customer({ credit: "0" });
  const { merchantId } = await served.merchant({ environment: "sandbox", coins: { TRX: "10000" }, accountId });
  await withTransaction(served.database, (client) => setLimits(client, { ...NO_LIMITS, ...limits, merchantId }));
  const credentials =
    kind === "pair"
      ? await machines.newPair(merchantId)
      : await machines.newToken(accountId, { scopes: ["read", "transfers"] });
  return { accountId, merchantId, credentials };
}

type Ordered = { readonly merchantId: string; readonly credentials: MachineCredentials; readonly amount: string };

/** The transfer, or the code of the refusal. */
async function order({ method }: Orderer, { merchantId, credentials, amount }: Ordered): Promise<Transfer | string> {
  const wanted = { merchantId, externalId: `walk-${uuidv7()}`, currencyCode: "TRX", amount, address: ADDRESS };
  try {
    const answer = await machines.ask(method, credentials, wanted);
    return (answer as { transfer?: Transfer }).transfer ?? create(TransferSchema);
  } catch (thrown) {
    return ConnectError.from(thrown).findDetails(ErrorFactsSchema)[0]?.code ?? String(thrown);
  }
}

const heldOf = async (merchantId: string): Promise<string> => {
  const text = "SELECT sum(held)::text AS held FROM merchant_fund WHERE merchant_id = $1";
  return (await served.database.pool.query<{ held: string }>(text, [merchantId])).rows[0]?.held ?? "";
};

/** Whether anything was signed for a transfer, and where it is. */
const seenOf = async (id: string) => {
  const text = `SELECT status, EXISTS (SELECT FROM payout p WHERE p.transfer_id = t.id) AS "isPaid" FROM transfer t WHERE t.id = $1`;
  return (await served.database.pool.query<{ status: string; isPaid: boolean }>(text, [id])).rows[0];
};

test("pairs and tokens can order", () => {
  expect(orderers.map(({ kind }) => kind).toSorted()).toEqual(expect.arrayContaining(["pair", "token"]));
});

describe.each(orderers)("$name by a $kind", (orderer) => {
  test("orders nothing above the limit of one transfer, and holds nothing for it", async () => {
    const made = await newOrderer(orderer, { perTransfer: "5" });
    expect(await order(orderer, { ...made, amount: "5.000001" })).toBe("limit_exceeded");
    expect(await heldOf(made.merchantId)).toBe("0");
    expect(await order(orderer, { ...made, amount: "5" })).toMatchObject({ receivedAmount: "5" });
  });

  test("orders nothing above the limit of the day", async () => {
    const made = await newOrderer(orderer, { daily: "8" });
    expect(await order(orderer, { ...made, amount: "5" })).toMatchObject({ receivedAmount: "5" });
    const held = await heldOf(made.merchantId);
    expect(await order(orderer, { ...made, amount: "3.000001" })).toBe("limit_exceeded");
    expect(Number(await heldOf(made.merchantId))).toBeLessThanOrEqual(Number(held));
    expect(await order(orderer, { ...made, amount: "3" })).toMatchObject({ receivedAmount: "3" });
  });

  test("waits for an operator above the approval threshold, and nothing is signed", async () => {
    const made = await newOrderer(orderer, { approvalAbove: "5" });
    const above = await order(orderer, { ...made, amount: "5.000001" });
    const below = await order(orderer, { ...made, amount: "5" });
    expect(above).toMatchObject({ status: "WAITING", reason: expect.stringContaining("approval") });
    expect(below).toMatchObject({ status: "PENDING" });
    // The later one is paid, so the queue has passed the earlier one.
    const idOf = (ordered: Transfer | string) => (typeof ordered === "string" ? ordered : ordered.id);
    await expect.poll(() => seenOf(idOf(below)), { timeout: 20_000 }).toMatchObject({ isPaid: true });
    expect(await seenOf(idOf(above))).toMatchObject({ isPaid: false });
  });

  test("orders nothing for a frozen account, and holds nothing", async () => {
    const made = await newOrderer(orderer, { approvalAbove: "0" });
    expect(await order(orderer, { ...made, amount: "5" })).toMatchObject({ status: "WAITING" });
    const held = await heldOf(made.merchantId);
    await withTransaction(served.database, (client) => freezeAccount(client, made.accountId));
    expect(await order(orderer, { ...made, amount: "5" })).toBe("permission_denied");
    expect(await heldOf(made.merchantId)).toBe(held);
  });
});
