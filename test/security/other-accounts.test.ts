// Rows of another account: every method whose request names one by its id is called by a stranger with the ids of rows that are
// there, and finds nothing. The methods are read off the contracts; a new one is tried with no further word here.

import { getOption } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { ErrorFactsSchema } from "#gen/saldo/errors/v1/errors_pb.ts";
import { Environment } from "#gen/saldo/merchant/v1/merchant_pb.ts";
import { MerchantService } from "#gen/saldo/merchant/v1/merchant_service_pb.ts";
import { MerchantTransferService } from "#gen/saldo/merchant/v1/merchant_transfer_service_pb.ts";
import { Caller, callers as callersOption } from "#gen/saldo/options/v1/options_pb.ts";
import { BillingService, KeysService, ReceiptService } from "../../src/client/client.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { type ServedSaldo, serveSaldo } from "../app/clients/served-saldo.ts";
import { ADDRESS, methodsNamingRows, requestAbout, type Rows } from "./requests-about.ts";

type Owner = { readonly rows: Rows; readonly service: Transport; readonly merchant: Transport };

let served: ServedSaldo;
let owner: Owner;
let stranger: Owner;
beforeAll(async () => {
  served = await serveSaldo();
  const { token = "" } = await served.saldo([
    "service-token",
    "create",
    "--all",
    "--scope",
    "read,keys,top_ups,settings,merchants,transfers",
  ]);
  [owner, stranger] = [await newOwner(token), await newOwner(token)];
});
afterAll(() => served.stop());

function through(headers: Record<string, string>): Transport {
  return createConnectTransport({
    baseUrl: served.server.httpUrl,
    httpVersion: "1.1",
    interceptors: [
      (next) => (request) => {
        for (const [name, value] of Object.entries(headers)) request.header.set(name, value);
        return next(request);
      },
    ],
  });
}

/** An account with a row of every kind. */
async function newOwner(token: string): Promise<Owner> {
  const { accountId, key } = await served.customer({ credit: "50000" });
  await served.chat(key, { model: "demo/small", messages: [{ role: "user", content: "Hi" }] });
  const service = through({ authorization: `Bearer ${token}`, "x-saldo-account": accountId });
  const merchants = createClient(MerchantService, service);
  const made = await merchants.createMerchant({ environment: Environment.SANDBOX });
  const merchantId = made.merchant?.id ?? "";
  await merchants.useFaucet({ merchantId, currencyCode: "TRX", amount: "1000" });
  const pair = { authorization: `Basic ${btoa(`${made.apiKey}:${made.secretKey}`)}` };
  const order = { externalId: uuidv7(), currencyCode: "TRX", amount: "10", address: ADDRESS };
  const ordered = await createClient(MerchantTransferService, through(pair)).createTransfer(order);
  const { topUp } = await createClient(BillingService, service).createTopUp({
    amount: "25000",
    idempotencyKey: uuidv7(),
  });
  // It is paid on the provider's page, so that it has a receipt.
  await fetch(topUp?.paymentUrl ?? "", {
    method: "POST",
    redirect: "manual",
    body: new URLSearchParams({ action: "pay" }),
  });
  const receiptOf = async () => (await createClient(ReceiptService, service).listReceipts({})).receipts[0]?.id ?? "";
  await vi.waitUntil(async () => (await receiptOf()) !== "", { timeout: 60_000, interval: 250 });
  const issued = await createClient(KeysService, service).createKey({ name: "row" });
  const rows = {
    keyId: issued.key?.id ?? "",
    topUpId: topUp?.id ?? "",
    receiptId: await receiptOf(),
    requestId: (await served.usage(accountId))[0]?.requestId ?? "",
    merchantId,
    credentialId: made.credential?.id ?? "",
    transferId: ordered.transfer?.id ?? "",
    id: ordered.transfer?.id ?? "",
  };
  expect(Object.entries(rows).filter(([, id]) => !/^[0-9a-f-]{36}$/.test(id))).toEqual([]);
  return { rows, service, merchant: through(pair) };
}

/** Methods that a service or a merchant may call, and whose request names a row by its id. */
const naming = methodsNamingRows(Caller.SERVICE, Caller.MERCHANT);

/** Each with the kinds of caller that it takes. */
const tried = naming.flatMap((method) =>
  (["service", "merchant"] as const)
    .filter((by) => getOption(method, callersOption).includes(by === "service" ? Caller.SERVICE : Caller.MERCHANT))
    .map((by) => ({ method, by })),
);

async function outcome({ method, by }: (typeof tried)[number], asker: Owner, rows: Rows): Promise<string> {
  const client = createClient(method.parent, asker[by]) as Record<
    string,
    (request: unknown, options: object) => unknown
  >;
  const request = requestAbout(method.input, rows);
  try {
    const answer = client[method.localName]?.(request, { timeoutMs: 15_000 });
    if (method.methodKind !== "server_streaming") await answer;
    else await (answer as AsyncIterable<unknown>)[Symbol.asyncIterator]().next();
    return "answered";
  } catch (thrown) {
    const error = ConnectError.from(thrown);
    if (error.code === Code.Unimplemented) return "not there yet";
    return error.findDetails(ErrorFactsSchema)[0]?.code ?? `${error.code} ${error.message}`;
  }
}

test("a stranger finds nothing, whatever is asked", async () => {
  const found = await Promise.all(
    tried.map(async (each) => [`${each.method.name} ${each.by}`, await outcome(each, stranger, owner.rows)] as const),
  );
  expect(found.length).toBeGreaterThan(15);
  const letThrough = found.filter(
    ([, told]) => told !== "not_found" && told !== "not there yet" && told !== "validation_error",
  );
  expect(letThrough).toEqual([]);
  // Otherwise nothing was tried.
  expect(found.filter(([, told]) => told === "not_found").length).toBeGreaterThan(10);
});

test("the owner finds what a stranger does not", async () => {
  const reading = tried.filter(({ method: { name } }) => /^(Get|List)/.test(name));
  for (const each of reading) {
    const told = await outcome(each, owner, owner.rows);
    if (told === "not there yet") continue;
    expect([each.method.name, each.by, told]).toEqual([each.method.name, each.by, "answered"]);
  }
  expect(reading.length).toBeGreaterThan(5);
});
