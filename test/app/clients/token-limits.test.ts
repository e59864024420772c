// A limit of tokens below what a model may write: requests are admitted with what is left, and client libraries wait for none that can
// never be admitted.

import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ErrorFactsSchema } from "#gen/saldo/errors/v1/errors_pb.ts";
import { GatewayService } from "#gen/saldo/gateway/v1/gateway_service_pb.ts";
import { chunk, completion, json, stream, usageChunk, wire } from "../../gateway/scripted-upstream.ts";
import { type Customer, type ServedSaldo, serveSaldo } from "./served-saldo.ts";

const price = { input: "1000000", output: "1000000" };
const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
const MESSAGES = [{ role: "user", content: "Halo, apa kabar?" }];
const model = "local/long";
const LIMIT = 2_000;
/** Its tokens are more than the limit, whatever the tokenizer. */
const LONG_TEXT = "satu dua tiga ".repeat(2_000);

let served: ServedSaldo;
beforeAll(async () => {
  served = await serveSaldo({
    models: {
      long: { price, max_output_tokens: 16_000 },
      free: { price: { input: "0", output: "0" }, max_output_tokens: 16_000 },
      vectors: { kind: "embeddings", price: { input: "1000000" } },
    },
  });
});
afterAll(() => served.stop());

async function limitedCustomer(tokens = LIMIT): Promise<Customer> {
  const customer = await served.customer({ credit: "1000000" });
  await served.saldo(["key", "update", "--key-id", customer.keyId, "--token-limit", String(tokens)]);
  return customer;
}

function post(path: string, { key }: Customer, body: object): Promise<Response> {
  return fetch(`${served.server.httpUrl}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

const grpc = () =>
  createClient(GatewayService, createGrpcTransport({ baseUrl: `http://${served.server.grpcAddress}` }));

/** The requests of each protocol for a text, without a bound of their own where the protocol allows that. */
const REQUESTS = {
  "Chat Completions": (text: string) => [
    "/v1/chat/completions",
    { model, messages: [{ role: "user", content: text }] },
  ],
  Responses: (text: string) => ["/v1/responses", { model, input: text }],
  Messages: (text: string) => [
    "/v1/messages",
    { model, max_tokens: 16_000, messages: [{ role: "user", content: text }] },
  ],
  Gemini: (text: string) => [
    `/v1beta/models/${model}:generateContent`,
    { contents: [{ role: "user", parts: [{ text }] }] },
  ],
} as const satisfies Record<string, (text: string) => readonly [string, object]>;
type Protocol = keyof typeof REQUESTS;
const PROTOCOLS = Object.keys(REQUESTS) as Protocol[];

function sentBound(): number {
  const body = String(served.upstream.received.at(-1)?.body);
  return (JSON.parse(body) as { max_tokens: number }).max_tokens;
}

describe("a limit of tokens below what the model may write", () => {
  test.each(PROTOCOLS)("leaves the output of a request of %s what is left of it", async (protocol) => {
    const customer = await limitedCustomer();
    served.upstream.run(json(completion({ usage: USAGE })));
    const [path, body] = REQUESTS[protocol]("Halo, apa kabar?");
    const answer = await post(path, customer, body);
    expect([answer.status, answer.headers.get("x-ratelimit-remaining-tokens")]).toEqual([200, "0"]);
    expect(sentBound()).toBeGreaterThan(1_000);
    expect(sentBound()).toBeLessThan(LIMIT);
    await answer.arrayBuffer();
    // What it used counts, and not what was held.
    served.upstream.run(json(completion({ usage: USAGE })));
    expect((await post(path, customer, body)).status).toBe(200);
  });

  test.each([model, "local/free"])("leaves a stream of %s what is left of it", async (streamed) => {
    const customer = await limitedCustomer();
    const words = Array.from({ length: 4 }, () => chunk({ content: "kata ".repeat(10) }));
    const usage = usageChunk({ prompt_tokens: 10, completion_tokens: 40, total_tokens: 50 });
    served.upstream.run(stream(wire([...words, chunk({}, "stop"), usage, "[DONE]"])));
    const answer = await post("/v1/chat/completions", customer, {
      model: streamed,
      messages: MESSAGES,
      stream: true,
    });
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('"finish_reason":"stop"')]);
    expect(sentBound()).toBeGreaterThan(1_000);
    expect(sentBound()).toBeLessThan(LIMIT);
    expect(await served.balance(customer.accountId)).toMatchObject({ held: "0" });
  });

  test("leaves a call over gRPC what is left of it", async () => {
    const { key } = await limitedCustomer();
    served.upstream.run(json(completion({ usage: USAGE })));
    const headers = { authorization: `Bearer ${key}` };
    await grpc().createChatCompletion({ model, messages: [{ role: "user", content: "Halo" }] }, { headers });
    expect(sentBound()).toBeGreaterThan(1_000);
    expect(sentBound()).toBeLessThan(LIMIT);
  });

  test("refuses what is not useful with the tokens that are left, with a time to wait", async () => {
    const customer = await limitedCustomer();
    const used = { prompt_tokens: 10, completion_tokens: 1_900, total_tokens: 1_910 };
    served.upstream.run(json(completion({ usage: used })));
    const ask = { model, messages: MESSAGES };
    expect((await post("/v1/chat/completions", customer, ask)).status).toBe(200);
    const asked = served.upstream.received.length;
    const answer = await post("/v1/chat/completions", customer, ask);
    expect([answer.status, answer.headers.get("x-should-retry")]).toEqual([429, null]);
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await answer.json()).toMatchObject({ error: "token_limit_exceeded", retry_after: expect.any(Number) });
    expect(served.upstream.received.length).toBe(asked);
  });
});

describe("a request whose answer would be cut short", () => {
  /** So many tokens were used a while ago. Repeated where the machine was too busy to ask in time. */
  const used = ({ keyId }: Customer, tokens: number, secondsAgo: number) =>
    served.database.pool.query(
      `UPDATE api_key SET token_counts = ARRAY[$2::bigint],
         token_times = ARRAY[date_bin('1 s', clock_timestamp() - $3 * interval '1 s', timestamptz 'epoch')] WHERE id = $1`,
      [keyId, tokens, secondsAgo],
    );
  const ask = (customer: Customer, max: number) =>
    post("/v1/chat/completions", customer, { model, messages: MESSAGES, max_tokens: max });

  test("is refused where a whole one is free within seconds, and client libraries get that", async () => {
    const customer = await limitedCustomer(10_000);
    served.upstream.run(json(completion({ usage: USAGE })));
    let refused: Response | undefined;
    const status = async () => {
      await used(customer, 9_300, 59);
      refused = await ask(customer, 2_000);
      return refused.status;
    };
    await expect.poll(status).toBe(429);
    expect(Number(refused?.headers.get("retry-after"))).toBeLessThanOrEqual(3);
    const facts = (await refused?.json()) as { tokens_left: number; tokens_needed: number };
    expect(facts).toMatchObject({ error: "token_limit_exceeded", tokens_left: 700 });
    expect(facts.tokens_needed).toBeGreaterThan(2_000);
    const client = new OpenAI({ apiKey: customer.key, baseURL: served.baseUrl });
    await used(customer, 9_300, 59);
    await client.chat.completions.create({ model, messages: [{ role: "user", content: "Halo" }], max_tokens: 2_000 });
    expect(sentBound()).toBe(2_000);
  });

  test("is cut where the wait is long, and where an answer of a usual length has room", async () => {
    const customer = await limitedCustomer(10_000);
    served.upstream.run(json(completion({ usage: USAGE })));
    await used(customer, 9_300, 0);
    expect((await ask(customer, 2_000)).status).toBe(200);
    expect(sentBound()).toBeLessThan(700);
    const bound = async () => {
      await used(customer, 8_500, 59);
      expect((await ask(customer, 3_000)).status).toBe(200);
      return sentBound();
    };
    await expect.poll(bound).toBeLessThan(3_000);
    expect(sentBound()).toBeGreaterThanOrEqual(1_024);
  });
});

describe("a request that needs more tokens than the limit", () => {
  test.each(PROTOCOLS)("is refused for good in the form of %s", async (protocol) => {
    const customer = await limitedCustomer();
    const asked = served.upstream.received.length;
    const answer = await post(...bodyOf(protocol, customer));
    expect([answer.status, answer.headers.get("x-should-retry"), answer.headers.get("retry-after")]).toEqual([
      429,
      "false",
      null,
    ]);
    const text = await answer.text();
    expect(text).toContain("This key allows 2000 tokens a minute, and this request needs at least ");
    expect(text).toContain("A retry cannot succeed. Shorten the request, or raise the token limit of the key.");
    expect(text).not.toMatch(/retry_after|RetryInfo/);
    expect(served.upstream.received.length).toBe(asked);
    expect(await served.balance(customer.accountId)).toMatchObject({ held: "0", posted: "1000000" });
  });

  test("is refused for good in streams, for vectors and over gRPC", async () => {
    const customer = await limitedCustomer();
    const messages = [{ role: "user", content: LONG_TEXT }];
    const streamed = await post("/v1/chat/completions", customer, { model, messages, stream: true });
    expect([streamed.status, streamed.headers.get("x-should-retry")]).toEqual([429, "false"]);
    const vectors = await post("/v1/embeddings", customer, { model: "local/vectors", input: [LONG_TEXT, LONG_TEXT] });
    expect([vectors.status, vectors.headers.get("x-should-retry")]).toEqual([429, "false"]);
    const headers = { authorization: `Bearer ${customer.key}` };
    const thrown: unknown = await grpc()
      .createChatCompletion({ model, messages: [{ role: "user", content: LONG_TEXT }] }, { headers })
      .catch((error: unknown) => error);
    const error = ConnectError.from(thrown);
    expect([error.code, error.metadata.get("x-should-retry")]).toEqual([Code.ResourceExhausted, "false"]);
    expect(error.findDetails(ErrorFactsSchema)[0]).toMatchObject({
      code: "token_limit_exceeded",
      retryAfterSeconds: 0,
    });
  });

  test("is sent once by OpenAI's library, and the same request without it is answered", async () => {
    const customer = await limitedCustomer();
    let sent = 0;
    const client = new OpenAI({
      apiKey: customer.key,
      baseURL: served.baseUrl,
      maxRetries: 5,
      fetch: (url, init) => {
        sent += 1;
        return fetch(url, init);
      },
    });
    const refused = client.chat.completions.create({ model, messages: [{ role: "user", content: LONG_TEXT }] });
    await expect(refused).rejects.toMatchObject({ status: 429, error: "token_limit_exceeded" });
    expect(sent).toBe(1);
    served.upstream.run(json(completion({ usage: USAGE })));
    const answer = await client.chat.completions.create({ model, messages: [{ role: "user", content: "Halo" }] });
    expect(answer.usage?.total_tokens).toBe(15);
  });
});

function bodyOf(protocol: Protocol, customer: Customer): [string, Customer, object] {
  const [path, body] = REQUESTS[protocol](LONG_TEXT);
  return [path, customer, body];
}
