import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  BEARER,
  createLogMemory,
  PRODUCTION_PAIR,
  SANDBOX_PAIR,
  startServers,
  TRANSFER_ID,
  type Running,
} from "../fakes.ts";

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const log = createLogMemory();
let running: Running;

beforeAll(async () => {
  running = await startServers({ logger: log.logger });
});
afterAll(() => running.servers.close(1_000));

const get = (path: string, authorization = BEARER, headers: Record<string, string> = {}) =>
  fetch(running.http + path, { headers: { authorization, ...headers } });

const post = (path: string, body: string, authorization = PRODUCTION_PAIR, headers: Record<string, string> = {}) =>
  fetch(running.http + path, {
    method: "POST",
    body,
    headers: { "content-type": "application/json", authorization, ...headers },
  });

const calculate = (amount: string) =>
  post("/v1/merchant-transfers/calculate", `{"currencyCode":"TRX","amount":${amount}}`);

describe("paths that clients put together wrongly", () => {
  test.each([
    ["POST", "/v1/v1/chat/completions", "Use /v1/chat/completions."],
    ["POST", "/chat/completions", "Use /v1/chat/completions."],
    ["POST", "/v1/chat/completion", "Use /v1/chat/completions."],
    ["GET", "/api/v1/models?limit=1000", "Use /v1/models."],
    ["POST", "/v1beta/models/acme:embedContent", "Of Gemini's API there are generateContent"],
    ["GET", "/v1/responses/resp_1", "Responses are not stored."],
    ["DELETE", "/v1/responses/resp_1", "Responses are not stored."],
    ["POST", "/v1/responses/compact", "Nothing is compacted here."],
  ])("%s %s: %s", async (method, path, advice) => {
    const response = await fetch(running.http + path, { method });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: { message: expect.stringContaining(advice) } });
  });

  test.each(["HEAD", "GET"])("%s /api/hello is answered without a key", async (method) => {
    const slots = running.keys.slots;
    const response = await fetch(`${running.http}/api/hello`, { method });
    expect({ status: response.status, text: await response.text() }).toEqual({ status: 204, text: "" });
    expect(running.keys.slots).toBe(slots);
  });
});

describe("answers", () => {
  test.each([
    "/v1/models/acme/large",
    "/v1/models/acme%2Flarge",
    "/v1/models/acme/large/",
    "/v1/models/acme/large?x=1",
  ])("a model id with a slash is found at %s", async (path) => {
    const response = await get(path);
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ id: "acme/large", owned_by: "acme" });
  });

  test.each(["/v1/models", "/v1/models/", "/v1/models?limit=1000&page=x"])("%s lists the models", async (path) => {
    const response = await get(path);
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ object: "list", data: [{ id: "acme/large", object: "model" }] });
    expect(response.headers.get("x-ratelimit-limit-requests")).toBe("60");
    expect(response.headers.get("x-ratelimit-remaining-requests")).toBe("41");
    expect(response.headers.get("ratelimit")).toBe('"key";r=41;t=23');
    expect(response.headers.get("ratelimit-policy")).toBe('"key";q=60;w=60');
  });

  test.each(["0.1", "5", "12345678901234567890.123456789012345678", "0.30000000000000004", "100"])(
    "the decimal %s goes through digit for digit",
    async (amount) => {
      const response = await calculate(amount);
      expect(response.status).toBe(200);
      const text = await response.text();
      expect(text).toContain(`"receivedAmount":${amount},"fee":0.10000000000000000000000001,"totalAmount":${amount}}`);
      expect(JSON.parse(text)).toMatchObject({ meta: { message: "OK", statusCode: 200 } });
    },
  );

  test("a number that binary floating point cannot hold reaches the domain as it was written", async () => {
    // The fake gives back what it got; `1e400` is no plain decimal, so the answer fails and not the request.
    expect((await calculate("1e400")).status).toBe(500);
  });

  test("the path names the environment", async () => {
    const sandbox = await post(
      "/sandbox/v1/merchant-transfers/calculate",
      '{"currencyCode":"TRX","amount":1}',
      SANDBOX_PAIR,
    );
    expect(await sandbox.json()).toMatchObject({ data: { network: "sandbox" } });
    expect(await (await calculate("1")).json()).toMatchObject({ data: { network: "production" } });
  });

  test("paging is in meta and comes from the query string", async () => {
    const response = await get("/v1/merchant-transfers?page=2&perPage=20&unknown=1", PRODUCTION_PAIR);
    expect(await response.json()).toEqual({
      data: [],
      meta: { message: "OK", statusCode: 200, page: 2, perPage: 20, totalData: 0, totalPage: 0 },
    });
  });

  test.each(["/v1/merchant-transfers", "/v1/merchant-transfers/create", "/v1/merchant-transfers/"])(
    "POST %s orders, and the headers of the service arrive",
    async (path) => {
      const response = await post(
        path,
        '{"externalId":"a","currencyCode":"TRX","amount":1,"address":"T1","unknown":[1]}',
      );
      expect(response.status).toBe(200);
      expect(response.headers.get("x-saldo-replayed")).toBe("true");
      expect(await response.json()).toMatchObject({ data: { externalId: "a", amount: 1 } });
    },
  );

  test("a method without a body takes none, an empty one and any other", async () => {
    const path = `/v1/merchant-transfers/${TRANSFER_ID}/cancel`;
    const bare = await fetch(running.http + path, { method: "POST", headers: { authorization: PRODUCTION_PAIR } });
    expect([bare.status, (await post(path, "")).status, (await post(path, "{}")).status]).toEqual([200, 200, 200]);
  });

  test("every answer has a request id of ours, whatever the client sends", async () => {
    const answers = await Promise.all([
      get("/v1/models", BEARER, { "x-request-id": "mine" }),
      get("/v1/models", "Bearer wrong"),
      get("/nope"),
      get("/v1/%zz"),
      get("/healthz"),
      post("/v1/models", "{}"),
      post("/v1/chat/completions", "{}", BEARER),
    ]);
    for (const answer of answers) expect(answer.headers.get("x-request-id")).toMatch(UUID_V7);
  });
});

describe("errors", () => {
  const WRONG_KEY = {
    error: "invalid_api_key",
    message:
      "The API key is missing, wrong, revoked or expired. Send it as a Bearer token in the Authorization header.",
  };

  test.each([
    "",
    "Bearer",
    "Bearer gw_wrong",
    "bearer",
    "gw_test",
    "Basic Z3dfdGVzdDo=",
    `Basic ${btoa("nobody:nothing")}`,
    "Bearer gw_test gw_test",
    `Bearer ${"x".repeat(5_000)}`,
  ])("the wrong credentials %s give the one body of all wrong keys", async (authorization) => {
    for (const path of ["/v1/models", "/v1/models/x"]) {
      const response = await get(path, authorization);
      expect([response.status, await response.json()]).toEqual([401, WRONG_KEY]);
    }
    const chat = await post("/v1/chat/completions", "not json", authorization);
    expect([chat.status, await chat.json()]).toEqual([401, WRONG_KEY]);
  });

  test("the scheme is read without regard to case", async () => {
    expect((await get("/v1/models", "bEARER gw_test")).status).toBe(200);
  });

  test("a key in the query string is no key", async () => {
    const response = await fetch(`${running.http}/v1/models?api_key=gw_test&authorization=Bearer%20gw_test`);
    expect(response.status).toBe(401);
  });

  test.each([
    ["/v1/merchant-balances", SANDBOX_PAIR, 401, "invalid_credentials"],
    ["/sandbox/v1/merchant-balances", PRODUCTION_PAIR, 401, "invalid_credentials"],
    ["/v1/merchant-balances", "Basic !!!", 401, "invalid_credentials"],
    ["/v1/merchant-balances", BEARER, 401, "invalid_credentials"],
    ["/v1/merchant-balances", PRODUCTION_PAIR, 404, "not_found"],
    [`/v1/merchant-transfers/${TRANSFER_ID.replace("1", "2")}`, PRODUCTION_PAIR, 404, "not_found"],
    ["/v1/merchant-transfers/not-a-uuid", PRODUCTION_PAIR, 400, "validation_error"],
    ["/v1/merchant-transfers?perPage=101", PRODUCTION_PAIR, 400, "validation_error"],
    ["/v1/merchant-transfers?perPage=ten", PRODUCTION_PAIR, 400, "validation_error"],
    ["/v1/merchant-nothing", PRODUCTION_PAIR, 404, "not_found"],
    ["/sandbox/nothing", PRODUCTION_PAIR, 404, "not_found"],
  ])("GET %s as %s is %s %s in the merchants' shape", async (path, authorization, status, error) => {
    const response = await get(path, authorization);
    expect([response.status, await response.json()]).toMatchObject([status, { meta: { statusCode: status, error } }]);
  });

  test.each([
    ["/v1/models", PRODUCTION_PAIR, 401, "invalid_api_key"],
    ["/v1/balance", BEARER, 404, "not_found"],
    ["/nothing", BEARER, 404, "not_found"],
    ["/v1/models/broken", BEARER, 500, "internal_error"],
    [`/v1/models/${"x".repeat(201)}`, BEARER, 400, "validation_error"],
    ["/v1/%zz", BEARER, 400, "validation_error"],
  ])("GET %s as %s is %s %s", async (path, authorization, status, error) => {
    const response = await get(path, authorization);
    expect([response.status, await response.json()]).toMatchObject([status, { error }]);
  });

  test("a fault of ours shows its request id and nothing of its cause, which is logged", async () => {
    const response = await get("/v1/models/broken");
    const requestId = response.headers.get("x-request-id");
    const body = await response.text();
    expect(JSON.parse(body)).toMatchObject({ requestId });
    expect(body).not.toContain("secret internals");
    expect(log.lines.find((line) => line["requestId"] === requestId && "err" in line)?.["err"]).toBeInstanceOf(
      TypeError,
    );
  });

  test.each([
    ['{"currencyCode":"TRX","amount":"5"}', "amount", "type"],
    ['{"currencyCode":"TRX","amount":true}', "amount", "type"],
    ['{"currencyCode":"TRX","amount":null}', "amount", "required"],
    ['{"currencyCode":"TRX"}', "amount", "required"],
    ['{"currency_code":"TRX","amount":1}', "currencyCode", "string.pattern"],
    ['{"currencyCode":5,"amount":1}', "currencyCode", "type"],
    ['{"currencyCode":"TRX","amount":1,"amount":2}', "amount", "json.duplicate_key"],
    ["[]", "", "type"],
    ["5", "", "type"],
    ["{", "", "json"],
    ['{"amount":NaN}', "", "json"],
    ["", "", "required"],
    [`{"x":${"[".repeat(60_000)}`, "", "json.depth"],
    ['{"__proto__":{"currencyCode":"TRX","amount":1}}', "currencyCode", "string.pattern"],
  ])("the body %s is refused at the field %j by the rule %s", async (body, field, rule) => {
    const response = await post("/v1/merchant-transfers/calculate", body);
    const { meta } = (await response.json()) as { meta: { statusCode: number; error: string; details: unknown[] } };
    expect([response.status, meta.statusCode, meta.error]).toEqual([400, 400, "validation_error"]);
    expect(meta.details).toContainEqual({ field, rule, message: expect.any(String) });
  });

  test.each([
    ['{"amount":1}', "is required"],
    ['{"currencyCode":"","amount":1}', "is required"],
    ['{"currencyCode":"trx","amount":1}', expect.stringContaining("does not match")],
  ])("the body %s is refused for its currency", async (body, message) => {
    const { meta } = (await (await post("/v1/merchant-transfers/calculate", body)).json()) as { meta: unknown };
    expect(meta).toMatchObject({ details: [{ field: "currencyCode", rule: "string.pattern", message }] });
  });

  test("a body is not read for a caller who may not send it", async () => {
    expect((await post("/v1/merchant-transfers/calculate", "{", "Basic bm9ib2R5Om5v")).status).toBe(401);
  });

  test("a full window has the time of the next try, in the body and in the headers", async () => {
    running.keys.full = true;
    const response = await get("/v1/models");
    running.keys.full = false;
    expect([response.status, await response.json()]).toMatchObject([429, { error: "rate_limit", retry_after: 17 }]);
    expect(response.headers.get("retry-after")).toBe("17");
    expect(response.headers.get("x-ratelimit-remaining-requests")).toBe("0");
  });

  test("a read that fails takes no slot", async () => {
    const before = running.keys.slots;
    await get("/v1/models/broken");
    await get(`/v1/models/${"x".repeat(201)}`);
    expect(running.keys.slots).toBe(before);
    await get("/v1/models");
    expect(running.keys.slots).toBe(before + 1);
  });

  test("the header x-saldo-error-format gives OpenAI's object in area A and changes nothing in area B", async () => {
    const format = { "x-saldo-error-format": "openai" };
    expect(await (await get("/v1/models", "Bearer x", format)).json()).toMatchObject({
      error: { code: "invalid_api_key", type: "authentication_error", param: null, message: expect.any(String) },
    });
    const chat = await post("/v1/chat/completions", "{}", "Bearer x", format);
    expect(await chat.json()).toMatchObject({ error: { code: "invalid_api_key" } });
    const merchant = await get("/v1/merchant-balances", "Basic x", format);
    expect(await merchant.json()).toMatchObject({ meta: { error: "invalid_credentials" } });
  });

  test("log lines name the caller and the outcome, and hold neither keys nor query strings", async () => {
    const response = await get("/v1/models?token=hidden");
    const line = log.lines.find((each) => each["requestId"] === response.headers.get("x-request-id"));
    expect(line).toMatchObject({
      method: "saldo.gateway.v1.GatewayService/ListModels",
      caller: "api_key",
      accountId: "account-1",
      keyId: "key-1",
      code: "ok",
    });
    expect(JSON.stringify(log.lines)).not.toMatch(/hidden|gw_test|sk_live/);
  });
});
