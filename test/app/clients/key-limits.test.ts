// The limits of a key as its user meets them: set by command and by RPC, refused in the form of each protocol, read at /v1/key.

import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { GatewayService } from "#gen/saldo/gateway/v1/gateway_service_pb.ts";
import { ErrorFactsSchema } from "#gen/saldo/errors/v1/errors_pb.ts";
import { chunk, completion, json, stream, usageChunk, wire } from "../../gateway/scripted-upstream.ts";
import { type Customer, type ServedSaldo, serveSaldo } from "./served-saldo.ts";

// A token costs a rupiah.
const price = { input: "1000000", output: "1000000" };
const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
const MESSAGES = [{ role: "user", content: "Halo, apa kabar?" }];
const model = "local/small";

let served: ServedSaldo;
beforeAll(async () => {
  served = await serveSaldo({
    models: {
      small: { price, max_output_tokens: 20 },
      long: { price, max_output_tokens: 16_000 },
      free: { price: { input: "0", output: "0" } },
    },
  });
});
afterAll(() => served.stop());

/** Sets limits of a customer's key as an operator does. */
const limit = ({ keyId }: Customer, ...options: string[]) =>
  served.saldo(["key", "update", "--key-id", keyId, ...options]);

async function keyOf({ key }: Customer): Promise<Record<string, unknown>> {
  const answer = await fetch(`${served.baseUrl}/key`, { headers: { authorization: `Bearer ${key}` } });
  expect(answer.status).toBe(200);
  return (await answer.json()) as Record<string, unknown>;
}

function post(path: string, { key }: Customer, body: object, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${served.server.httpUrl}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
}

type Refusal = { readonly status: number; readonly code: string; readonly facts: Record<string, unknown> };

/** Asks in each protocol, whole and streamed: the amounts of the refusal are fields, at the place that the protocol has for them. */
async function expectRefusals(
  customer: Customer,
  ask: { readonly model: string; readonly messages: readonly { readonly content: string }[] },
  { status, code, facts }: Refusal,
): Promise<void> {
  const text = ask.messages[0]?.content ?? "";
  const gemini = { contents: [{ role: "user", parts: [{ text }] }], generationConfig: { maxOutputTokens: 20 } };
  const responses = { model: ask.model, max_output_tokens: 20, input: text };
  const openAi = { "x-saldo-error-format": "openai" };
  for (const isStreamed of [false, true]) {
    const streamed = { stream: isStreamed };
    const geminiMethod = isStreamed ? "streamGenerateContent?alt=sse" : "generateContent";
    const answers = await Promise.all([
      post("/v1/chat/completions", customer, { ...ask, ...streamed }),
      post("/v1/chat/completions", customer, { ...ask, ...streamed }, openAi),
      post("/v1/responses", customer, { ...responses, ...streamed }),
      post("/v1/messages", customer, { ...ask, ...streamed }),
      post(`/v1beta/models/${ask.model}:${geminiMethod}`, customer, gemini),
    ]);
    expect(answers.map((answer) => answer.status)).toEqual(answers.map(() => status));
    const [plain, nested, ofResponses, ofMessages, ofGemini] = await Promise.all(answers.map((each) => each.json()));
    expect(plain).toMatchObject({ error: code, ...facts });
    expect(nested).toMatchObject({ error: { code, ...facts } });
    expect(ofResponses).toMatchObject({ error: { code: RESPONSES_CODES[code] ?? code, ...facts } });
    expect(ofMessages).toMatchObject({ error: { details: { error_code: code, ...facts } } });
    // Google's map has texts alone.
    const metadata = metadataOf(facts);
    const { error } = ofGemini as { error: { details: object[] } };
    expect(error.details[0]).toMatchObject({ reason: code.toUpperCase(), metadata });
  }
}

/** The numbers among the facts as texts. */
const metadataOf = (facts: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(facts).map(([name, value]) => [name, typeof value === "number" ? String(value) : value]),
  );

/** Clients of Responses know these by other names. */
const RESPONSES_CODES: Readonly<Record<string, string>> = {
  token_limit_exceeded: "rate_limit_exceeded",
  rate_limit: "rate_limit_exceeded",
};

test("a balance that is too low and a full window of requests are refused with their amounts, in each protocol", async () => {
  const poor = await served.customer({ credit: "3" });
  const ask = { model, max_tokens: 20, messages: MESSAGES };
  const facts = { available_idr: "3", needed_idr: expect.stringMatching(/^\d+$/) as string };
  await expectRefusals(poor, ask, { status: 402, code: "insufficient_balance", facts });
  const busy = await served.customer({ rateLimit: 1 });
  served.upstream.run(json(completion({ usage: USAGE })));
  expect((await post("/v1/chat/completions", busy, ask)).status).toBe(200);
  const limited = { request_limit: 1 };
  await expectRefusals(busy, ask, { status: 429, code: "rate_limit", facts: limited });
  const again = await post("/v1/messages", busy, ask);
  const { error } = (await again.json()) as { error: { details: { retry_after: number } } };
  expect(String(error.details.retry_after)).toBe(again.headers.get("retry-after"));
});

describe("a key with a budget", () => {
  test("is refused beyond it in the form of each protocol, and nothing is sent or charged", async () => {
    const customer = await served.customer();
    expect(await limit(customer, "--budget", "3", "--budget-period", "day")).toMatchObject({
      budgetIdr: "3",
      budgetPeriod: "day",
      budgetLeftIdr: "3",
    });
    const asked = served.upstream.received.length;
    const ask = { model, max_tokens: 20, messages: MESSAGES };
    const facts = {
      left_idr: "3",
      needed_idr: expect.stringMatching(/^\d+$/) as string,
      resets_at: expect.stringMatching(/T17:00:00.000Z$/) as string,
    };
    await expectRefusals(customer, ask, { status: 402, code: "key_budget_exceeded", facts });
    expect(served.upstream.received.length).toBe(asked);
    expect(await served.usage(customer.accountId)).toEqual([]);
    expect(await served.balance(customer.accountId)).toMatchObject({ held: "0", posted: "1000" });
    // What costs nothing may be asked.
    served.upstream.run(json(completion({ usage: USAGE })));
    expect((await post("/v1/chat/completions", customer, { ...ask, model: "local/free" })).status).toBe(200);
  });

  test("begins again at midnight of the account's zone, which its errors and /v1/key show", async () => {
    const customer = await served.customer();
    await limit(customer, "--budget", "3", "--budget-period", "day");
    const zone = ["account", "update", "--account", customer.accountId, "--zone"];
    expect(await served.saldo([...zone, "Asia/Jayapura", "--reason", "moved"])).toEqual({
      accountId: customer.accountId,
      budgetTimeZone: "Asia/Jayapura",
      was: "Asia/Jakarta",
    });
    await expect(served.saldo([...zone, "Asia/Bandung"])).rejects.toThrow("must be a time zone");
    const { budget } = (await keyOf(customer)) as { budget: Record<string, string> };
    expect(budget).toMatchObject({ left_idr: "3", time_zone: "Asia/Jayapura" });
    expect(budget["resets_at"]).toMatch(/T15:00:00Z$/);
    const chat = await post("/v1/chat/completions", customer, { model, max_tokens: 20, messages: MESSAGES });
    const resets = new Date(budget["resets_at"] ?? "").toISOString();
    expect(await chat.json()).toMatchObject({ error: "key_budget_exceeded", resets_at: resets });
    expect(await served.saldo(["account", "show", "--account", customer.accountId])).toMatchObject({
      budgetTimeZone: "Asia/Jayapura",
    });
  });

  test("spends what it was charged, and says so at /v1/key and over gRPC", async () => {
    const customer = await served.customer();
    await limit(customer, "--budget", "100", "--expires", "2099-12-31", "--models", "local/small,demo/*");
    served.upstream.run(json(completion({ usage: USAGE })));
    expect((await post("/v1/chat/completions", customer, { model, max_tokens: 5, messages: MESSAGES })).status).toBe(
      200,
    );
    expect(await keyOf(customer)).toMatchObject({
      name: "test",
      rate_limit: 60,
      expires_at: "2099-12-31T17:00:00Z",
      allowed_models: ["local/small", "demo/*"],
      budget: { period: "total", limit_idr: "100", spent_idr: "15", held_idr: "0", left_idr: "85" },
    });
    const client = createClient(
      GatewayService,
      createGrpcTransport({ baseUrl: `http://${served.server.grpcAddress}` }),
    );
    const headers = { authorization: `Bearer ${customer.key}` };
    expect((await client.getKey({}, { headers })).key?.budget).toMatchObject({ spentIdr: "15", leftIdr: "85" });
    await limit(customer, "--budget", "16");
    const asked = client.createChatCompletion({ model, messages: [{ role: "user", content: "Halo" }] }, { headers });
    const error: unknown = await asked.catch((thrown: unknown) => thrown);
    expect(ConnectError.from(error).code).toBe(Code.FailedPrecondition);
    expect(ConnectError.from(error).findDetails(ErrorFactsSchema)[0]).toMatchObject({
      code: "key_budget_exceeded",
      budgetLeftIdr: "1",
    });
  });

  test("ends a stream that it cannot pay any further as a cap on the output does", async () => {
    const customer = await served.customer({ credit: "100000" });
    await limit(customer, "--budget", "5000");
    const words = Array.from({ length: 60 }, () => chunk({ content: "kata ".repeat(100) }));
    const usage = usageChunk({ prompt_tokens: 10, completion_tokens: 6_000, total_tokens: 6_010 });
    served.upstream.run(stream(wire([...words, chunk({}, "stop"), usage, "[DONE]"])));
    const body = { model: "local/long", messages: MESSAGES, stream: true, stream_options: { include_usage: true } };
    const answer = await post("/v1/chat/completions", customer, body);
    const text = await answer.text();
    expect(text).toContain('"finish_reason":"length"');
    const { budget } = (await keyOf(customer)) as { budget: Record<string, string> };
    expect(Number(budget["spent_idr"])).toBeGreaterThan(4_000);
    expect(Number(budget["spent_idr"])).toBeLessThanOrEqual(5_000);
    expect(budget["held_idr"]).toBe("0");
    expect((await served.usage(customer.accountId))[0]?.charge).toBe(budget["spent_idr"]);
  });
});

describe("a key with a limit of tokens", () => {
  test("is refused beyond it in the form of each protocol, shows what is left, and is corrected by what was used", async () => {
    const customer = await served.customer();
    expect(await limit(customer, "--token-limit", "100")).toMatchObject({ tokenLimit: 100, tokensLeft: 100 });
    const ask = { model, max_tokens: 20, messages: MESSAGES };
    served.upstream.run(json(completion({ usage: USAGE })));
    const first = await post("/v1/chat/completions", customer, ask);
    expect([first.status, first.headers.get("x-ratelimit-limit-tokens")]).toEqual([200, "100"]);
    const left = Number(first.headers.get("x-ratelimit-remaining-tokens"));
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThan(80);
    expect(first.headers.get("x-ratelimit-reset-tokens")).toBe("60s");
    expect(await keyOf(customer)).toMatchObject({ token_limit: 100, tokens_left: 85 });
    const asked = served.upstream.received.length;
    const large = [{ role: "user", content: "Halo ".repeat(40) }];
    const refused = await post("/v1/chat/completions", customer, { ...ask, messages: large });
    expect([refused.status, refused.headers.get("x-ratelimit-remaining-tokens")]).toEqual([429, "85"]);
    expect([refused.headers.get("retry-after"), refused.headers.get("x-should-retry")]).toEqual([null, "false"]);
    const tokens = { token_limit: 100, tokens_left: 85 };
    const needed = { tokens_needed: expect.any(Number) as number };
    expect(await refused.json()).toMatchObject({ error: "token_limit_exceeded", ...tokens, ...needed });
    const refusal = { status: 429, code: "token_limit_exceeded", facts: tokens };
    await expectRefusals(customer, { ...ask, messages: large }, refusal);
    expect(served.upstream.received.length).toBe(asked);
    expect(await served.balance(customer.accountId)).toMatchObject({ held: "0", posted: "985" });
    await limit(customer, "--token-limit", "none");
    served.upstream.run(json(completion({ usage: USAGE })));
    const free = await post("/v1/chat/completions", customer, { ...ask, messages: large });
    expect([free.status, free.headers.get("x-ratelimit-limit-tokens")]).toEqual([200, null]);
    await expect(limit(customer, "--token-limit", "0")).rejects.toThrow("--token-limit must be");
  });
});

/** Asks for a model's facts, and counts for it in each protocol. */
async function expectAnswers(id: string, customer: Customer, status: number): Promise<void> {
  const facts = await fetch(`${served.baseUrl}/models/${id}`, { headers: { authorization: `Bearer ${customer.key}` } });
  const counts = await Promise.all([
    post("/v1/messages/count_tokens", customer, { model: id, messages: MESSAGES }),
    post("/v1/responses/input_tokens", customer, { model: id, input: "Halo" }),
    post(`/v1beta/models/${id}:countTokens`, customer, { contents: [{ role: "user", parts: [{ text: "Halo" }] }] }),
  ]);
  expect([facts, ...counts].map((answer) => answer.status)).toEqual([status, status, status, status]);
}

describe("a key with models", () => {
  test("asks those alone, and lists no others", async () => {
    const customer = await served.customer();
    await limit(customer, "--models", "local/small,demo/*");
    const refused = await post("/v1/chat/completions", customer, { model: "local/long", messages: MESSAGES });
    expect([refused.status, await refused.json()]).toMatchObject([403, { error: "model_not_allowed" }]);
    const messages = await post("/v1/messages", customer, { model: "local/long", max_tokens: 5, messages: MESSAGES });
    expect([messages.status, await messages.json()]).toMatchObject([403, { error: { type: "permission_error" } }]);
    // A key is read again within five seconds.
    const models = async (): Promise<string[]> => {
      const answer = await fetch(`${served.baseUrl}/models`, { headers: { authorization: `Bearer ${customer.key}` } });
      const { data } = (await answer.json()) as { data: { id: string }[] };
      return data.map(({ id }) => id).filter((id) => !id.startsWith("demo/"));
    };
    await expect.poll(models, { timeout: 30_000, interval: 500 }).toEqual(["local/small"]);
    await expectAnswers("local/long", customer, 403);
    await expectAnswers("local/small", customer, 200);
    await limit(customer, "--models", "all");
    served.upstream.run(json(completion({ usage: USAGE })));
    expect(
      (await post("/v1/chat/completions", customer, { model: "local/long", max_tokens: 5, messages: MESSAGES })).status,
    ).toBe(200);
  });
});

test("a budget of 0, by command as by RPC, refuses all that costs and lets pass what is free", async () => {
  const customer = await served.customer();
  expect(await limit(customer, "--budget", "0")).toMatchObject({ budgetIdr: "0", budgetLeftIdr: "0" });
  const ask = { model, max_tokens: 20, messages: MESSAGES };
  const facts = { left_idr: "0", needed_idr: expect.stringMatching(/^\d+$/) as string };
  await expectRefusals(customer, ask, { status: 402, code: "key_budget_exceeded", facts });
  served.upstream.run(json(completion({ usage: USAGE })));
  expect((await post("/v1/chat/completions", customer, { ...ask, model: "local/free" })).status).toBe(200);
  await expect(limit(customer, "--budget=-1")).rejects.toThrow("--budget must be rupiah from 0 to");
});

test("a key gets another rate limit by command, and keeps what the command does not name", async () => {
  const customer = await served.customer({ rateLimit: 5 });
  await limit(customer, "--budget", "100", "--models", "local/*");
  expect(await limit(customer, "--rate-limit", "0", "--name", "baru")).toMatchObject({
    name: "baru",
    rateLimit: 0,
    budgetIdr: "100",
    budgetPeriod: "total",
    models: ["local/*"],
  });
  const { keys } = (await served.saldo(["key", "list", "--account", customer.accountId])) as unknown as {
    keys: unknown[];
  };
  expect(keys).toMatchObject([{ keyId: customer.keyId, rateLimit: 0, budgetLeftIdr: "100" }]);
});

describe("a key with an end", () => {
  test("is refused from then on, whatever this node remembers of it", async () => {
    const customer = await served.customer();
    await limit(customer, "--expires", new Date(Date.now() + 8_000).toISOString());
    expect((await keyOf(customer))["name"]).toBe("test");
    await expect
      .poll(async () => (await post("/v1/chat/completions", customer, { model, messages: MESSAGES })).status)
      .toBe(200);
    await expect
      .poll(async () => (await post("/v1/chat/completions", customer, { model, messages: MESSAGES })).status, {
        timeout: 30_000,
        // Faster it would use up the rate of the key before its end.
        interval: 500,
      })
      .toBe(401);
    expect(await served.usage(customer.accountId)).not.toEqual([]);
    // It keeps its end where only its name is changed.
    expect(await limit(customer, "--budget", "9")).toMatchObject({ budgetIdr: "9", expiresAt: expect.any(String) });
    expect(await limit(customer, "--name", "lama")).toMatchObject({ name: "lama", expiresAt: expect.any(String) });
  });

  test("has one in the future, and a budget has a period", async () => {
    const customer = await served.customer();
    await expect(limit(customer, "--expires", "2020-01-31")).rejects.toThrow("limits.expiresAt must be in the future");
    await expect(limit(customer, "--budget-period", "day")).rejects.toThrow("--budget-period needs a --budget");
    await expect(limit(customer, "--budget", "5", "--budget-period", "week")).rejects.toThrow("total or day or month");
    await expect(limit(customer, "--expires", "2027-02-31T09:00:00Z")).rejects.toThrow("--expires must be a day");
    await expect(limit(customer, "--budget", "none", "--budget-period", "day")).rejects.toThrow(
      "--budget-period needs a --budget",
    );
    await expect(limit(customer, "--models", "a,,b")).rejects.toThrow("--models must be ids");
  });
});
