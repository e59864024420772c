import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RawAnswer, type RawRequest, type Refusal, refusalOf, refused, sendRaw } from "./raw-http.ts";
import { type ServedSaldo, serveSaldo } from "./served-saldo.ts";

const CALCULATE = "/v1/merchant-transfers/calculate";
/** Where each environment's pairs work. */
const paths = { sandbox: `/sandbox${CALCULATE}`, production: CALCULATE } as const;
type Environment = keyof typeof paths;

/** A chain whose node does not answer: what it carries is offered all the same, and waits for it. */
const ETHEREUM = {
  SALDO_ETHEREUM_RPC_URL: "http://127.0.0.1:9",
  SALDO_ETHEREUM_KEY_VARIABLE: "TEST_WALLET_KEY",
  TEST_WALLET_KEY: `0x${"1".repeat(64)}`,
  SALDO_ETHEREUM_LEAST: "ETH=0.000000000000000001,USDT=1",
  SALDO_ETHEREUM_LEAST_FEE: "ETH=0.000000000000000001,USDT=1",
  SALDO_ETHEREUM_TOKENS: "USDT=0xdAC17F958D2ee523a2206206994597C13D831ec7",
};

let served: ServedSaldo;
let authorizations: Record<Environment, string>;

beforeAll(async () => {
  served = await serveSaldo({ settings: ETHEREUM });
  const { accountId = "" } = await served.saldo(["account", "create", "--email", "merchant@saldo.example"]);
  authorizations = { sandbox: await newPair(accountId, "sandbox"), production: await newPair(accountId, "production") };
});
afterAll(() => served.stop());

/** Makes a merchant and gives the header its pair is sent in. */
async function newPair(accountId: string, environment: Environment): Promise<string> {
  const words = ["merchant", "create", "--account", accountId, "--environment", environment];
  const { apiKey, secretKey } = await served.saldo(words);
  expect(apiKey).toMatch(environment === "sandbox" ? /^mk_test_/ : /^mk_(?!test_)/);
  return `Basic ${Buffer.from(`${apiKey}:${secretKey}`).toString("base64")}`;
}

function calculate(
  body: string,
  { path = paths.sandbox, authorization = authorizations.sandbox }: { path?: string; authorization?: string } = {},
): Promise<RawAnswer> {
  const headers = { authorization, "content-type": "application/json" };
  return sendRaw(served.server.httpUrl, { path, headers, body: [body] });
}

const of = (currencyCode: string, amount: string): string => `{"currencyCode":"${currencyCode}","amount":${amount}}`;

/** The members of a quote as they are printed, digit for digit. */
function printedNumbers(body: string): Record<string, string | undefined> {
  const found = [...body.matchAll(/"(fee|receivedAmount|totalAmount)":([^,}]+)/g)];
  return Object.fromEntries(found.map(([, name, digits]) => [name, digits]));
}

/** Sends anything to the service with the sandbox pair. */
function send({ headers, ...request }: RawRequest): Promise<RawAnswer> {
  return sendRaw(served.server.httpUrl, {
    ...request,
    headers: { authorization: authorizations.sandbox, ...headers },
  });
}

function refusedInEnvelope(status: number, error: string): Refusal {
  return refused(status, error, { inEnvelope: true });
}

describe.each(["sandbox", "production"] as const)("calculate on the %s base address", (environment) => {
  const call = (body: string, more: { path?: string } = {}): Promise<RawAnswer> =>
    calculate(body, { path: paths[environment], authorization: authorizations[environment], ...more });

  test("answers 5 with 1.5 and 6.5", async () => {
    const ordinary = await call(of("ETH", "5"));
    expect(ordinary.status).toBe(200);
    expect(JSON.parse(ordinary.body)).toEqual({
      data: { currencyCode: "ETH", network: "ethereum", receivedAmount: 5, fee: 1.5, totalAmount: 6.5 },
      meta: { message: expect.any(String), statusCode: 200 },
    });
  });

  test("prints every digit, beyond what binary floating point holds", async () => {
    const { body } = await call(of("ETH", "123456789.123456789012345678"));
    expect(printedNumbers(body)).toEqual({
      receivedAmount: "123456789.123456789012345678",
      fee: "37037036.737037036703703704",
      totalAmount: "160493825.860493825716049382",
    });
    const small = await call(of("ETH", "1e-18"));
    expect([small.status, printedNumbers(small.body)]).toEqual([
      200,
      { receivedAmount: "0.000000000000000001", fee: "0.000000000000000001", totalAmount: "0.000000000000000002" },
    ]);
    expect(printedNumbers((await call(of("ETH", "5.000"))).body)).toMatchObject({ receivedAmount: "5" });
  });

  test("accepts a slash at the end", async () => {
    const answer = await call(of("ETH", "5"), { path: `${paths[environment]}/` });
    expect([answer.status, printedNumbers(answer.body)["totalAmount"]]).toEqual([200, "6.5"]);
  });

  test("refuses the pair of the other environment, a wrong one and none alike", async () => {
    const other = environment === "sandbox" ? authorizations.production : authorizations.sandbox;
    const wrong = `Basic ${Buffer.from("mk_test_nobody:sk_test_nobody").toString("base64")}`;
    const answers = await Promise.all(
      [other, wrong, ""].map((authorization) => calculate(of("ETH", "5"), { path: paths[environment], authorization })),
    );
    for (const answer of answers) expect(refusalOf(answer)).toEqual(refusedInEnvelope(401, "invalid_credentials"));
    expect(new Set(answers.map(({ body }) => body)).size).toBe(1);
  });
});

test("calculate answers TRX 10 by its own row with 16.7 and 26.7", async () => {
  const { body } = await calculate(of("TRX", "10"));
  expect(printedNumbers(body)).toEqual({ receivedAmount: "10", fee: "16.7", totalAmount: "26.7" });
});

test("calculate refuses in production what no configured chain carries", async () => {
  const production = { path: paths.production, authorization: authorizations.production };
  const unserved = [of("TRX", "10"), of("USDC", "5"), '{"currencyCode":"USDT","network":"bsc","amount":5}'];
  for (const body of unserved) {
    expect(refusalOf(await calculate(body, production))).toEqual(refusedInEnvelope(422, "currency_unsupported"));
    expect((await calculate(body)).status).toBe(200);
  }
  expect((await calculate(of("USDT", "5"), production)).status).toBe(200);
});

describe("calculate refuses", () => {
  test.each([
    ["a negative amount", of("ETH", "-1"), 400, "validation_error"],
    ["nothing", of("ETH", "0"), 400, "validation_error"],
    ["nothing, with decimals", of("ETH", "0.00"), 400, "validation_error"],
    ["less than nothing by a sign", of("ETH", "-0"), 400, "validation_error"],
    ["a number beyond every number", of("ETH", "1e400"), 400, "validation_error"],
    ["a number as text", of("ETH", '"5"'), 400, "validation_error"],
    ["an amount that is null", of("ETH", "null"), 400, "validation_error"],
    ["an amount that is a list", of("ETH", "[5]"), 400, "validation_error"],
    ["no amount", '{"currencyCode":"ETH"}', 400, "validation_error"],
    ["more decimals than TRX has", of("TRX", "1.0000001"), 422, "amount_precision"],
    ["more decimals than ETH has", of("ETH", "1e-19"), 422, "amount_precision"],
    ["more than a transfer may move", of("TRX", "1000000000001"), 422, "limit_exceeded"],
    ["a currency that is not offered", of("XYZ", "5"), 422, "currency_unsupported"],
    ["a code that is none", of("eth", "5"), 400, "validation_error"],
    ["the name of a prototype", of("__proto__", "5"), 400, "validation_error"],
    ["a key that comes twice", '{"currencyCode":"ETH","amount":5,"amount":500}', 400, "validation_error"],
    [
      "a key that comes twice, once escaped",
      String.raw`{"currencyCode":"ETH","amount":5,"\u0061mount":500}`,
      400,
      "validation_error",
    ],
    ["half of a body", '{"currencyCode":"ETH","amo', 400, "validation_error"],
    ["an empty body", "", 400, "validation_error"],
    ["a body that is a list", `[${of("ETH", "5")}]`, 400, "validation_error"],
    [
      "nesting 30 000 deep",
      `{"currencyCode":"ETH","amount":5,"x":${"[".repeat(30_000)}${"]".repeat(30_000)}}`,
      400,
      "validation_error",
    ],
  ])("%s", async (_case, body, status, error) => {
    expect(refusalOf(await calculate(body))).toEqual(refusedInEnvelope(status, error));
  });

  test("a content type that is not JSON, another verb and an unknown path, in the merchants' words", async () => {
    const text = await send({ path: paths.sandbox, headers: { "content-type": "text/plain" }, body: [of("ETH", "5")] });
    expect(refusalOf(text)).toEqual(refusedInEnvelope(415, "unsupported_media_type"));
    const verb = await send({ method: "DELETE", path: paths.sandbox });
    expect(refusalOf(verb)).toEqual(refusedInEnvelope(405, "method_not_allowed"));
    const path = await send({ method: "GET", path: "/sandbox/v1/nothing" });
    expect(refusalOf(path)).toEqual(refusedInEnvelope(404, "not_found"));
  });
});
