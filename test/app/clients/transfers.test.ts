import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { EVM, TRON, WRONG_ORDERS } from "./wrong-orders.ts";
import { type RawAnswer, refusalOf, refused, sendRaw } from "./raw-http.ts";
import { withTransaction } from "../../../src/database/transactions.ts";
import { setLimits } from "../../../src/merchant/merchants/limits.ts";
import { type MerchantCaller, type ServedSaldo, serveSaldo } from "./served-saldo.ts";

type Environment = "sandbox" | "production";
const base = { sandbox: "/sandbox/v1", production: "/v1" } as const satisfies Record<Environment, string>;

type Answer = { data: Record<string, unknown>; meta: Record<string, unknown> };

let served: ServedSaldo;
let callers: Record<Environment, MerchantCaller>;
let gatewayKey: string;

beforeAll(async () => {
  served = await serveSaldo();
  gatewayKey = (await served.customer()).key;
  callers = {
    sandbox: await newMerchant("sandbox"),
    production: await newMerchant("production"),
  };
});
afterAll(() => served.stop());

function newMerchant(environment: Environment): Promise<MerchantCaller> {
  return served.merchant({ environment, coins: { TRX: "100000", USDT: "1000", ETH: "1000" } });
}

/** A merchant whose transfers wait for approval, so that they stay where they are while a test looks. */
async function patientMerchant(): Promise<MerchantCaller> {
  const merchant = await newMerchant("sandbox");
  const limits = { currencyCode: "TRX", perTransfer: "", daily: "", approvalAbove: "0" };
  await withTransaction(served.database, (client) => setLimits(client, { merchantId: merchant.merchantId, ...limits }));
  return merchant;
}

type Call = {
  readonly path: string;
  readonly body?: string;
  readonly authorization?: string;
  readonly method?: string;
};

function call({ path, body, authorization = callers.sandbox.authorization, ...more }: Call): Promise<RawAnswer> {
  return sendRaw(served.server.httpUrl, {
    method: more.method ?? (body === undefined ? "GET" : "POST"),
    path,
    headers: { authorization, ...(body === undefined ? {} : { "content-type": "application/json" }) },
    body: body === undefined ? [] : [body],
  });
}

const read = ({ body }: RawAnswer): Answer => JSON.parse(body) as Answer;
const order = (externalId: string, more = ""): string =>
  `{"externalId":"${externalId}","currencyCode":"TRX","amount":5,"address":"${TRON}"${more}}`;

// In production nothing is served without a chain, so what follows is of the sandbox where it needs more than calculate.
describe("a transfer in the sandbox", () => {
  const path = `${base.sandbox}/merchant-transfers`;

  test.each(["/create", "/create/", "", "/"])("is ordered at …/merchant-transfers%s", async (end) => {
    const externalId = `at ${end}`;
    const answer = await call({ path: path + end, body: order(externalId) });
    expect([answer.status, answer.headers["x-saldo-replayed"]]).toEqual([200, undefined]);
    const { data, meta } = read(answer);
    expect(meta).toEqual({ message: "OK", statusCode: 200 });
    expect(data).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
      slug: expect.stringMatching(/^t-[0-9a-z]{12}$/) as string,
      externalId,
      status: "PENDING",
      amount: 21.7,
      totalAmount: 21.7,
      fee: 16.7,
      receivedAmount: 5,
      currencyCode: "TRX",
      network: "tron",
      address: TRON,
      confirmations: 0,
      paymentType: "BALANCE",
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string,
      updatedAt: data["createdAt"],
      history: [
        {
          id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
          status: "PENDING",
          confirmations: 0,
          createdAt: data["createdAt"],
        },
      ],
    });
  });

  test("is the first one again when it is ordered again, and is marked so; other content is a conflict", async () => {
    const first = await call({ path, body: order("again") });
    const again = await call({ path: `${path}/create`, body: order("again").replace(":5,", ":5.00e0,") });
    expect([again.status, again.headers["x-saldo-replayed"]]).toEqual([200, "true"]);
    expect(read(again).data["id"]).toBe(read(first).data["id"]);
    const other = await call({ path, body: order("again").replace(":5,", ":6,") });
    expect(refusalOf(other)).toEqual(refused(409, "external_id_conflict", { inEnvelope: true }));
    expect(read(other).meta["message"]).toContain("amount");
  });

  test("is printed in plain digits, whatever its amount", async () => {
    const body = `{"externalId":"digits","currencyCode":"ETH","amount":1.23456789e-10,"address":"${EVM}"}`;
    const answer = await call({ path, body });
    const numbers = [...answer.body.matchAll(/"(amount|totalAmount|fee|receivedAmount)":([^,}]+)/g)];
    expect(Object.fromEntries(numbers.map(([, name, digits]) => [name, digits]))).toEqual({
      amount: "0.000000000160493826",
      totalAmount: "0.000000000160493826",
      fee: "0.000000000037037037",
      receivedAmount: "0.000000000123456789",
    });
  });

  test("is Ethereum's for USDT to a 0x address, and the same when the network is named", async () => {
    const body = `{"externalId":"usdt","currencyCode":"USDT","amount":5,"address":"${EVM}"}`;
    expect(read(await call({ path, body })).data).toMatchObject({ network: "ethereum", totalAmount: 6.5 });
    const named = await call({ path, body: body.replace("}", ',"network":"ethereum"}') });
    expect(named.headers["x-saldo-replayed"]).toBe("true");
  });

  test("is found by its id, with and without a slash, and by no other merchant", async () => {
    const { data } = read(await call({ path, body: order("found") }));
    for (const end of ["", "/"]) {
      const found = read(await call({ path: `${path}/${String(data["id"])}${end}` }));
      expect(found.data).toMatchObject({ id: data["id"], externalId: "found", receivedAmount: 5 });
    }
    const stranger = await newMerchant("sandbox");
    const notHis = await call({ path: `${path}/${String(data["id"])}`, authorization: stranger.authorization });
    expect(refusalOf(notHis)).toEqual(refused(404, "not_found", { inEnvelope: true }));
    const nothing = await call({ path: `${path}/00000000-0000-7000-8000-000000000000` });
    expect(refusalOf(nothing)).toEqual(refused(404, "not_found", { inEnvelope: true }));
    const noId = await call({ path: `${path}/17` });
    expect(refusalOf(noId)).toEqual(refused(400, "validation_error", { inEnvelope: true }));
  });

  test("is listed newest first, page by page, by day and status", async () => {
    const { authorization } = await patientMerchant();
    for (const name of ["1", "2", "3"]) await call({ path, body: order(`listed ${name}`), authorization });
    const list = async (query: string): Promise<[unknown[], unknown]> => {
      const { data, meta } = read(await call({ path: `${path}?${query}`, authorization }));
      const { message: _message, statusCode: _statusCode, ...paging } = meta;
      return [(data as unknown as { externalId: string }[]).map(({ externalId }) => externalId), paging];
    };
    const today = new Date(Date.now() + 7 * 3_600_000).toISOString().slice(0, 10);
    const all = ["listed 3", "listed 2", "listed 1"];
    const one = { page: 1, perPage: 10, totalData: 3, totalPage: 1 };
    expect(await list("")).toEqual([all, one]);
    expect(await list(`status=WAITING&fromDate=${today}&toDate=${today}`)).toEqual([all, one]);
    // As the public Node SDK of Nusagate writes them: what is left out has no value, and days are times.
    expect(await list("page=&perPage=5&fromDate=&toDate=&status=")).toEqual([all, { ...one, perPage: 5 }]);
    const now = new Date().toISOString();
    expect(await list(`page=&perPage=&fromDate=${now}&toDate=${now}`)).toEqual([all, one]);
    // Half past midnight in Jakarta is the evening before elsewhere.
    const night = new Date(Date.parse(`${today}T00:30:00+07:00`));
    for (const time of [night.toISOString(), `${today}T00:30:00+07:00`, `${today}T00:30:00%2B0700`, `${today}T23:59`]) {
      expect(await list(`fromDate=${time}&toDate=${time}`)).toEqual([all, one]);
    }
    expect((await list(`toDate=${new Date(night.getTime() - 3_600_000).toISOString()}`))[0]).toEqual([]);
    expect(await list("page=2&perPage=2")).toEqual([["listed 1"], { page: 2, perPage: 2, totalData: 3, totalPage: 2 }]);
    expect(await list("page=9")).toEqual([[], { ...one, page: 9 }]);
    const none = { page: 1, perPage: 10, totalData: 0, totalPage: 0 };
    expect(await list("status=CONFIRMED")).toEqual([[], none]);
    expect(await list("toDate=2020-01-01")).toEqual([[], none]);
    for (const query of [
      "fromDate=2026-02-30",
      "fromDate=yesterday",
      "fromDate=2026-02-30T00:00:00Z",
      "fromDate=2026-01-01T25:00:00Z",
      "status=pending",
      "perPage=101",
      "page=-1",
    ]) {
      const answer = await call({ path: `${path}?${query}`, authorization });
      expect(refusalOf(answer), query).toEqual(refused(400, "validation_error", { inEnvelope: true }));
    }
  });

  test("is canceled once, and its amount is available again", async () => {
    const { authorization } = await patientMerchant();
    const { data } = read(await call({ path, body: order("to cancel"), authorization }));
    const balance = async () => (await call({ path: `${base.sandbox}/merchant-balances`, authorization })).body;
    expect(await balance()).toContain('{"currencyCode":"TRX","available":99978.3,"held":21.7}');
    for (const end of ["", "/"]) {
      const cancel = await call({ path: `${path}/${String(data["id"])}/cancel${end}`, method: "POST", authorization });
      expect(read(cancel).data).toMatchObject({ status: "CANCELED", reason: "The merchant has canceled it." });
    }
    expect(await balance()).toContain('{"currencyCode":"TRX","available":100000,"held":0}');
    const approve = served.saldo(["transfer", "approve", "--transfer", String(data["id"])]);
    await expect(approve).rejects.toThrow("waits for no approval");
  });

  test("that waits for approval goes on when an operator approves, and returns everything when the operator rejects", async () => {
    const { merchantId, authorization } = await newMerchant("sandbox");
    await served.saldo(["merchant", "limit", "--merchant", merchantId, "--currency", "TRX", "--approval-above", "4.9"]);
    const ordered = async (name: string): Promise<string> => {
      const { data } = read(await call({ path, body: order(name), authorization }));
      expect(data["status"]).toBe("WAITING");
      return String(data["id"]);
    };
    const [approved, rejected] = [await ordered("one"), await ordered("two")];
    expect(await served.saldo(["transfer", "approve", "--transfer", approved])).toMatchObject({ status: "PENDING" });
    await served.saldo(["transfer", "reject", "--transfer", rejected, "--reason", "Not to this address."]);
    const { data } = read(await call({ path: `${path}/${rejected}`, authorization }));
    expect(data).toMatchObject({ status: "REJECTED", reason: "Not to this address." });
  });
});

test("insufficient funds are 402 with what there is and what is needed", async () => {
  const body = `{"externalId":"dear","currencyCode":"USDT","amount":900,"address":"${EVM}"}`;
  const answer = await call({ path: `${base.sandbox}/merchant-transfers`, body });
  expect(refusalOf(answer)).toEqual(refused(402, "insufficient_balance", { inEnvelope: true }));
  expect(read(answer).meta["message"]).toMatch(/Available is \d+(\.\d+)? USDT, needed is 1170 USDT\./);
});

describe("an order that is refused, with nothing taken:", () => {
  // A merchant of its own: nothing of it is under way, so nothing changes by itself.
  let merchant: MerchantCaller;
  beforeAll(async () => {
    merchant = await newMerchant("sandbox");
  });

  test.each(WRONG_ORDERS)("%s", async (_what, body, [status, error]) => {
    const { authorization } = merchant;
    for (const end of ["/create", ""]) {
      const answer = await call({ path: `${base.sandbox}/merchant-transfers${end}`, body, authorization });
      expect(refusalOf(answer), answer.body).toEqual(refused(status, error, { inEnvelope: true }));
    }
    const { data } = read(await call({ path: `${base.sandbox}/merchant-balances`, authorization }));
    expect(data).toEqual([
      { currencyCode: "ETH", available: 1000, held: 0 },
      { currencyCode: "TRX", available: 100_000, held: 0 },
      { currencyCode: "USDT", available: 1000, held: 0 },
    ]);
    const list = read(await call({ path: `${base.sandbox}/merchant-transfers`, authorization }));
    expect(list.meta["totalData"]).toBe(0);
  });
});

describe("credentials that are refused alike:", () => {
  const basic = (text: string): string => `Basic ${Buffer.from(text).toString("base64")}`;
  const [key, secret] = [
    () => callers.sandbox.pair.split(":")[0] ?? "",
    () => callers.sandbox.pair.split(":")[1] ?? "",
  ];
  const cases: readonly (readonly [what: string, authorization: () => string])[] = [
    ["none", () => ""],
    ["no colon", () => basic(key() + secret())],
    ["several colons, as part of the secret", () => basic(`${callers.sandbox.pair}:`)],
    ["several colons, the first of them behind nothing", () => basic(`:${callers.sandbox.pair}`)],
    ["bad base64", () => "Basic %%%%"],
    ["an empty key", () => basic(`:${secret()}`)],
    ["an empty secret", () => basic(`${key()}:`)],
    ["both empty", () => basic(":")],
    ["an unknown key", () => basic(`mk_test_nobody:${secret()}`)],
    ["a wrong secret", () => basic(`${key()}:sk_test_wrong`)],
    ["the other environment's pair", () => callers.production.authorization],
    ["a gateway key as Bearer", () => `Bearer ${gatewayKey}`],
    ["a gateway key as Basic", () => basic(`${gatewayKey}:${gatewayKey}`)],
    ["the pair as Bearer", () => callers.sandbox.authorization.replace("Basic", "Bearer")],
  ];
  test.each(cases)("%s", async (_what, authorization) => {
    const answer = await call({
      path: `${base.sandbox}/merchant-transfers/create`,
      body: order("nobody's"),
      authorization: authorization(),
    });
    expect(refusalOf(answer)).toEqual(refused(401, "invalid_credentials", { inEnvelope: true }));
    const wrong = await call({ path: `${base.sandbox}/merchant-balances`, authorization: "" });
    expect(answer.body).toBe(wrong.body);
  });
});
