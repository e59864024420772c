// Embeddings as a customer meets them: the official package, plain HTTP and RPC, with the bill to a millionth of a rupiah.

import OpenAI from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { exportUsage } from "../../../src/billing/usage/usage-export.ts";
import { connectClient, EmbeddingsService } from "../../../src/client/client.ts";
import { encodeVector } from "../../../src/gateway/embeddings/vectors.ts";
import { json } from "../../gateway/scripted-upstream.ts";
import { readCsv } from "../../dashboard/csv-file.ts";
import { type ServedSaldo, serveSaldo } from "./served-saldo.ts";

const VECTOR = [0.5, -0.25, 1];
const answer = (embedding: unknown, more: object = { usage: { prompt_tokens: 7, total_tokens: 7 } }) =>
  json(JSON.stringify({ object: "list", data: [{ object: "embedding", index: 0, embedding }], model: "x", ...more }));

let served: ServedSaldo;
beforeAll(async () => {
  served = await serveSaldo({
    models: {
      embed: { kind: "embeddings", context_length: 8_192, price: { input: "260.5" } },
      chat: { price: { input: "5000", output: "15000" } },
    },
  });
});
afterAll(() => served.stop());

const openai = (apiKey: string) => new OpenAI({ apiKey, baseURL: served.baseUrl, maxRetries: 0 });

/** Posts JSON to the path of embeddings. */
async function post(key: string, body: object, headers: Record<string, string> = {}) {
  const response = await fetch(`${served.baseUrl}/embeddings`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  return { response, body: (await response.json()) as Record<string, unknown> };
}

test("the openai package gets vectors of an upstream that writes either encoding, and is billed exactly", async () => {
  for (const given of [VECTOR, encodeVector(VECTOR)]) {
    const { key, accountId } = await served.customer();
    served.upstream.run(answer(given));
    const { data, usage, model } = await openai(key).embeddings.create({ model: "local/embed", input: "Selamat pagi" });
    expect(JSON.parse(String(served.upstream.received[0]?.body))).toMatchObject({
      model: "embed-2026",
      encoding_format: "base64",
    });
    expect([data[0]?.embedding, model]).toEqual([VECTOR, "local/embed"]);
    // Seven tokens at 260.5 rupiah for a million are 0.0018235, rounded up to a millionth.
    expect(usage).toEqual({ prompt_tokens: 7, total_tokens: 7, cost_idr: "0.001824" });
    expect(await served.balance(accountId)).toEqual({ available: "999.998176", held: "0", posted: "999.998176" });
    expect(await served.usage(accountId)).toMatchObject([
      { model: "local/embed", inputTokensUncached: 7, outputTokens: 0, charge: "0.001824", basis: "exact" },
    ]);
  }
});

test("the openai package gets numbers where it asks for them", async () => {
  const { key } = await served.customer();
  served.upstream.run(answer(encodeVector(VECTOR)));
  const asked: OpenAI.EmbeddingCreateParams = {
    model: "local/embed",
    input: [[1, 2, 3]],
    encoding_format: "float",
    dimensions: 3,
  };
  const { data } = await openai(key).embeddings.create(asked);
  expect(data[0]?.embedding).toEqual(VECTOR);
});

test("a request over HTTP has the headers of chat, and a slot of its key's window", async () => {
  const { key } = await served.customer({ rateLimit: 2 });
  served.upstream.run(answer(VECTOR));
  const { response, body } = await post(key, { model: "local/embed", input: "a" });
  expect(Object.fromEntries(response.headers)).toMatchObject({
    "x-saldo-cost-idr": "0.001824",
    "x-ratelimit-limit-requests": "2",
    "x-ratelimit-remaining-requests": "1",
  });
  expect(body["data"]).toEqual([{ object: "embedding", index: 0, embedding: VECTOR }]);
  await post(key, { model: "local/embed", input: "a" });
  expect((await post(key, { model: "local/embed", input: "a" })).response.status).toBe(429);
});

test("a caller over RPC gets the same vectors and the same bill", async () => {
  const { key, accountId } = await served.customer();
  const client = connectClient(EmbeddingsService, { token: key, baseUrl: served.server.httpUrl });
  served.upstream.run(answer(VECTOR));
  for (const request of [
    { input: ["Selamat pagi"] },
    { tokenInputs: [{ tokens: [1, 2, 3, 4, 5, 6, 7] }], dimensions: 3 },
  ]) {
    const { data, model, usage } = await client.createEmbeddings({ model: "local/embed", ...request });
    expect([data[0]?.embedding, model]).toEqual([VECTOR, "local/embed"]);
    expect(usage).toMatchObject({ promptTokens: 7, totalTokens: 7, costIdr: "0.001824" });
  }
  expect(JSON.parse(String(served.upstream.received[1]?.body))).toMatchObject({ input: [[1, 2, 3, 4, 5, 6, 7]] });
  const refused = client.createEmbeddings({ model: "local/embed", input: ["a"], tokenInputs: [{ tokens: [1] }] });
  await expect(refused).rejects.toThrow(/token_inputs/);
  expect((await served.balance(accountId)).available).toBe("999.996352");
});

test("a retry with the same idempotency key is not billed again", async () => {
  const { key, accountId } = await served.customer();
  served.upstream.run(answer(VECTOR));
  const ask = () => post(key, { model: "local/embed", input: "a" }, { "idempotency-key": "e-1" });
  expect((await ask()).response.status).toBe(200);
  const second = await ask();
  expect([second.response.status, second.body]).toMatchObject([
    409,
    { error: "already_answered", cost_idr: "0.001824" },
  ]);
  expect([served.upstream.received.length, (await served.usage(accountId)).length]).toEqual([1, 1]);
});

test("what is refused names its field and leaves no record, and a model answers only its own kind", async () => {
  const { key, accountId } = await served.customer();
  const refusals: [object, string][] = [
    [{ model: "local/embed", input: "" }, "input"],
    [{ model: "local/embed", input: "a", task: "x" }, "task"],
    [{ model: "local/chat", input: "a" }, "model"],
  ];
  for (const [body, field] of refusals) {
    const refused = await post(key, body);
    expect([refused.response.status, refused.body]).toMatchObject([400, { details: [{ field }] }]);
  }
  const chat = await served.chat(key, { model: "local/embed", messages: [{ role: "user", content: "Halo" }] });
  expect([chat.status, await chat.json()]).toMatchObject([400, { details: [{ field: "model" }] }]);
  expect(await served.usage(accountId)).toEqual([]);
  const poor = await served.customer({ credit: "0" });
  expect((await post(poor.key, { model: "local/embed", input: "a" })).response.status).toBe(402);
});

test("the model list shows the kind of each model", async () => {
  const { key } = await served.customer();
  const response = await fetch(`${served.baseUrl}/models`, { headers: { authorization: `Bearer ${key}` } });
  const { data } = (await response.json()) as { data: { id: string; kind: string; max_output_tokens: number }[] };
  const shown = data
    .filter(({ id }) => id.startsWith("local/"))
    .map((each) => [each.id, each.kind, each.max_output_tokens]);
  expect(shown).toEqual([
    ["local/chat", "chat", 16_384],
    ["local/embed", "embeddings", 0],
  ]);
});

test("the exported usage has the request with its input and no output", async () => {
  const { key, accountId } = await served.customer();
  served.upstream.run(answer(VECTOR, {}));
  await post(key, { model: "local/embed", input: [[1, 2, 3]] });
  expect(await served.usage(accountId)).toMatchObject([
    { basis: "estimated", inputTokensUncached: 3, outputTokens: 0, streamed: false },
  ]);
  const { pool } = served.database;
  const file = (await Array.fromAsync(exportUsage(pool, { accountId, filter: {} }))).join("");
  expect(readCsv(file)[0]).toMatchObject({ model: "local/embed", input_tokens_uncached: "3", output_tokens: "0" });
});
