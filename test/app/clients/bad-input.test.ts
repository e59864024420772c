import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { completion, json } from "../../gateway/scripted-upstream.ts";
import { type RawAnswer, type RawRequest, refusalOf, refused, sendRaw } from "./raw-http.ts";
import { type Customer, type ServedSaldo, serveSaldo } from "./served-saldo.ts";

const MIB = 1024 * 1024;
const CHAT = "/v1/chat/completions";

let served: ServedSaldo;
let customer: Customer;
let revoked: Customer;
let pair: Record<string, string>;

beforeAll(async () => {
  served = await serveSaldo({ models: { dear: { price: { input: "5000", output: "15000" } } } });
  served.upstream.run(json(completion()));
  [customer, revoked] = await Promise.all([served.customer({ rateLimit: 0 }), served.customer()]);
  await served.saldo(["key", "revoke", "--key-id", revoked.keyId]);
  pair = await served.saldo(["merchant", "create", "--account", customer.accountId, "--environment", "sandbox"]);
});
afterAll(() => served.stop());

const send = (request: RawRequest): Promise<RawAnswer> => sendRaw(served.server.httpUrl, request);

/** A chat request with the good key: only what is overridden is wrong. */
function sendChat(body: string | Buffer, headers: RawRequest["headers"] = {}): Promise<RawAnswer> {
  return send({
    path: CHAT,
    headers: { authorization: `Bearer ${customer.key}`, "content-type": "application/json", ...headers },
    body: [body],
  });
}

/** A chat body of the model that costs, with members of any text. */
const chatText = (more: string, messages = '[{"role":"user","content":"Hi"}]') =>
  `{"model":"local/dear","messages":${messages}${more === "" ? "" : `,${more}`}}`;

const deep = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
const deepObject = (levels: number) => '{"a":'.repeat(levels) + "1" + "}".repeat(levels);

describe("a body that cannot be served is a validation_error:", () => {
  test.each<[string, string | Buffer]>([
    ["arrays nested 200 000 deep", chatText(`"x":${deep(200_000)}`)],
    ["objects nested 200 000 deep", chatText(`"x":${deepObject(200_000)}`)],
    ["nothing but 200 000 opened arrays", "[".repeat(200_000)],
    ["a __proto__ key at the top", chatText('"__proto__":{"stream":true}')],
    ["a __proto__ key inside", chatText('"metadata":{"__proto__":{"admin":true}}')],
    ["an escaped __proto__ key", chatText(String.raw`"\u005f\u005fproto__":{"stream":true}`)],
    ["the model twice", chatText('"model":"demo/echo"')],
    ["the model twice, once with an escape", chatText(String.raw`"\u006dodel":"demo/echo"`)],
    ["the model in capitals as well", chatText('"MODEL":"local/dearer"')],
    ["a bound in capitals", chatText('"max_tokens":1,"Max_Tokens":8000')],
    ["a bound with a Kelvin sign", chatText('"max_to\u212Aens":8000')],
    ["a tier in capitals, escaped", chatText(String.raw`"\u0053ervice_Tier":"priority"`)],
    ["a search that has no price", chatText('"web_search_options":{}')],
    ["nothing", ""],
    ["white space", "  \n"],
    ["half of a body", chatText("").slice(0, 30)],
    ["JSON with something behind it", `${chatText("")}}`],
    ["no JSON at all", "model=local/dear"],
    [
      "bytes that are no UTF-8",
      Buffer.concat([Buffer.from('{"model":"local/dear'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]),
    ],
    ["an array", `[${chatText("")}]`],
    ["a string", '"hello"'],
    ["null", "null"],
    ["no model", '{"messages":[{"role":"user","content":"Hi"}]}'],
    ["a model that is a number", '{"model":5,"messages":[{"role":"user","content":"Hi"}]}'],
    ["no messages", '{"model":"local/dear"}'],
    ["empty messages", chatText("", "[]")],
    ["messages that are an object", chatText("", '{"role":"user","content":"Hi"}')],
    ["a message that is null", chatText("", "[null]")],
    ["an unknown role", chatText("", '[{"role":"root","content":"Hi"}]')],
    ["content that is a number", chatText("", '[{"role":"user","content":5}]')],
    ["a user with null content", chatText("", '[{"role":"user","content":null}]')],
    ["an unknown kind of part", chatText("", '[{"role":"user","content":[{"type":"smell"}]}]')],
    ["temperature below 0", chatText('"temperature":-0.1')],
    ["temperature above 2", chatText('"temperature":2.1')],
    ["temperature beyond every number", chatText('"temperature":1e400')],
    ["temperature as text", chatText('"temperature":"1"')],
    ["max_tokens of 0", chatText('"max_tokens":0')],
    ["max_tokens of -1", chatText('"max_tokens":-1')],
    ["max_tokens of 1.5", chatText('"max_tokens":1.5')],
    ["max_tokens as text", chatText('"max_tokens":"100"')],
    ["max_tokens of 2^63", chatText('"max_tokens":9223372036854775808')],
    ["max_completion_tokens of 1e400", chatText('"max_completion_tokens":1e400')],
    ["n of 0", chatText('"n":0')],
    ["n of 2^63", chatText('"n":9223372036854775808')],
    ["stream as text", chatText('"stream":"true"')],
    ["stream_options as a flag", chatText('"stream_options":true')],
    ["tools that are an object", chatText('"tools":{}')],
    ["a tool that runs at the upstream", chatText('"tools":[{"type":"web_search"}]')],
    ["a price-changing tier", chatText('"service_tier":"priority"')],
  ])("%s", async (_case, body) => {
    expect(refusalOf(await sendChat(body))).toEqual(refused(400, "validation_error"));
  });
});

describe("a request that is no JSON request is refused by its form:", () => {
  test.each(["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/xml"])(
    "content type %s",
    async (type) => {
      const answer = await sendChat(chatText(""), { "content-type": type });
      expect(refusalOf(answer)).toEqual(refused(415, "unsupported_media_type"));
    },
  );

  test("a compressed body", async () => {
    const answer = await sendChat(chatText(""), { "content-encoding": "gzip" });
    expect(refusalOf(answer)).toEqual(refused(415, "unsupported_media_type"));
  });

  test("a body with a stated length over 32 MiB", async () => {
    const answer = await sendChat("", { "content-length": String(32 * MIB + 1) });
    expect(refusalOf(answer)).toEqual(refused(413, "payload_too_large"));
  });

  test("a body that turns out to be over 32 MiB", async () => {
    const answer = await send({
      path: CHAT,
      headers: { authorization: `Bearer ${customer.key}`, "content-type": "application/json" },
      body: Array.from({ length: 33 }, () => Buffer.alloc(MIB, 0x20)),
    });
    expect(refusalOf(answer)).toEqual(refused(413, "payload_too_large"));
  });

  test("another verb, and another path", async () => {
    const headers = { authorization: `Bearer ${customer.key}` };
    const verb = await send({ method: "PUT", path: CHAT, headers });
    expect(refusalOf(verb)).toEqual(refused(405, "method_not_allowed"));
    expect(verb.headers.allow).toBe("POST");
    const path = await send({ method: "GET", path: "/v1/nothing", headers });
    expect(refusalOf(path)).toEqual(refused(404, "not_found"));
    const model = await sendChat('{"model":"local/nothing","messages":[{"role":"user","content":"Hi"}]}');
    expect(refusalOf(model)).toEqual(refused(404, "model_not_found"));
  });
});

const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });
const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString("base64")}` });

test("every kind of wrong key gets the same 401, byte for byte", async () => {
  const { key } = customer;
  const last = key.endsWith("0") ? "1" : "0";
  const wrong: readonly { path?: string; headers?: RawRequest["headers"]; body?: string }[] = [
    {},
    { headers: { authorization: "" } },
    { headers: { authorization: "Bearer" } },
    { headers: { authorization: key } },
    { headers: { authorization: `Token ${key}` } },
    { headers: { "x-api-key": key } },
    { headers: bearer("gw_short") },
    { headers: bearer(`${key.slice(0, -1)}${last}`) },
    { headers: bearer(`${key} `.repeat(2)) },
    { headers: bearer("x".repeat(8_000)) },
    { headers: bearer(revoked.key) },
    { headers: bearer(pair["secretKey"] ?? "") },
    { headers: basic(`${pair["apiKey"]}:${pair["apiKey"]}`) },
    { headers: basic(`${key}:`) },
    { headers: { authorization: [`Bearer ${key}`, `Bearer ${key}`] } },
    { headers: { authorization: [`Bearer ${revoked.key}`, `Bearer ${key}`] } },
    { path: `${CHAT}?api_key=${key}&key=${key}&access_token=${key}` },
    { body: chatText(`"api_key":"${key}","authorization":"Bearer ${key}"`) },
  ];
  const answers: RawAnswer[] = [];
  for (const { path = CHAT, headers = {}, body = chatText("") } of wrong) {
    answers.push(await send({ path, headers: { "content-type": "application/json", ...headers }, body: [body] }));
    const models = path.replace(CHAT, "/v1/models");
    answers.push(await send({ method: "GET", path: models, headers }));
  }
  for (const answer of answers) expect(refusalOf(answer)).toEqual(refused(401, "invalid_api_key"));
  expect(new Set(answers.map(({ body }) => body)).size).toBe(1);
  const shapes = answers.map(({ headers }) => Object.keys(headers).filter((name) => name !== "keep-alive"));
  for (const shape of shapes) expect(shape.toSorted()).toEqual(shapes[0]?.toSorted());
});

test("a caller without a key does not learn that a body is wrong", async () => {
  const headers = { "content-type": "application/json" };
  for (const body of ["", "[".repeat(200_000), "{}"]) {
    const answer = await send({ path: CHAT, headers, body: [body] });
    expect(refusalOf(answer)).toEqual(refused(401, "invalid_api_key"));
  }
});

test("OpenAI's error object is sent to callers that ask for it", async () => {
  const answer = await sendChat(chatText('"temperature":3'), { "x-saldo-error-format": "openai" });
  expect(answer.status).toBe(400);
  expect(JSON.parse(answer.body)).toMatchObject({
    error: { type: "invalid_request_error", code: "validation_error", param: "temperature" },
  });
});

test("a key named in a query string is not in the log", async () => {
  await send({ method: "GET", path: `/v1/models?api_key=${customer.key}` });
  expect(JSON.stringify(served.server.log)).not.toContain(customer.key);
});

test("none of it is a fault of ours in the log", () => {
  const levels = new Set(served.server.log.map(({ level }) => level));
  expect(levels.has("info")).toBe(true);
  expect(levels.has("error") || levels.has("fatal")).toBe(false);
});

test("none of it called an upstream, was charged, or left a hold", async () => {
  expect(served.upstream.received).toEqual([]);
  for (const { accountId } of [customer, revoked]) {
    expect(await served.balance(accountId)).toEqual({ available: "1000", held: "0", posted: "1000" });
    expect(await served.usage(accountId)).toEqual([]);
  }
  expect(await served.saldo(["audit"])).toMatchObject({ ok: true, violations: [] });
  // And the service still serves.
  expect((await sendChat(chatText(""))).status).toBe(200);
});
