import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { completion, json, stream, wire, chunk, usageChunk } from "../../gateway/scripted-upstream.ts";
import { type ServedSaldo, serveSaldo } from "./served-saldo.ts";

const price = { input: "5003", output: "15001" };

let served: ServedSaldo;

beforeAll(async () => {
  served = await serveSaldo({
    models: {
      "ten-percent": { price: { ...price, cache_hit: "500.3" } },
      "nineteen-percent": { price: { ...price, cache_hit: "950.57" } },
      quarter: { price: { ...price, cache_hit: "1250.75" } },
      "no-cache-price": { price },
      free: { price: { input: "0", output: "0" } },
      narrow: { price, context_length: 1_000, max_output_tokens: 500 },
    },
  });
});
afterAll(() => served.stop());

/** An upstream's usage of 11 100 tokens, of which 4 099 are from its cache. */
const USAGE = {
  prompt_tokens: 11_100,
  completion_tokens: 13,
  total_tokens: 11_113,
  prompt_tokens_details: { cached_tokens: 4_099 },
};
/** Long enough that so many tokens are possible. */
const LONG = [{ role: "user", content: "word ".repeat(4_000) }];

describe("cached input is billed to the micro-rupiah, rounded up once", () => {
  // 7 001 uncached at 5 003, 4 099 cached, 13 of output at 15 001: worked out by hand.
  test.each([
    ["ten-percent", 10, "37.271746", "925.456508"],
    ["nineteen-percent", 19, "39.117403", "921.765194"],
    ["quarter", 25, "40.347841", "919.304318"],
    ["no-cache-price", undefined, "55.728313", "888.543374"],
  ])("on a model %s of input", async (name, percent, cost, left) => {
    const { key, accountId } = await served.customer();
    const model = await fetch(`${served.baseUrl}/models/local/${name}`, {
      headers: { authorization: `Bearer ${key}` },
    });
    const { pricing } = (await model.json()) as { pricing: Record<string, unknown> };
    expect(pricing["cache_hit_percent"]).toBe(percent);

    served.upstream.run(json(completion({ usage: USAGE })));
    const whole = await served.chat(key, { model: `local/${name}`, messages: LONG });
    expect(whole.headers.get("x-saldo-cost-idr")).toBe(cost);
    expect(await whole.json()).toMatchObject({ usage: { ...USAGE, cost_idr: cost } });

    served.upstream.run(stream(wire([chunk({ content: "Halo" }), chunk({}, "stop"), usageChunk(USAGE), "[DONE]"])));
    const streamed = await served.chat(key, {
      model: `local/${name}`,
      messages: LONG,
      stream: true,
      stream_options: { include_usage: true },
    });
    expect(await streamed.text()).toContain(`"cost_idr":"${cost}"`);

    const billed = { cost, charge: cost, basis: "exact", inputTokensUncached: 7_001, inputTokensCached: 4_099 };
    expect(await served.usage(accountId)).toMatchObject([billed, billed]);
    expect(await served.balance(accountId)).toEqual({ available: left, held: "0", posted: left });
  });
});

test("a model that costs nothing answers an empty account", async () => {
  const { key, accountId } = await served.customer({ credit: "0" });
  served.upstream.run(json(completion({ usage: USAGE })));
  for (const model of ["local/free", "demo/echo"]) {
    const response = await served.chat(key, { model, messages: LONG });
    expect(response.status).toBe(200);
    expect(response.headers.get("x-saldo-cost-idr")).toBe("0");
  }
  const refused = await served.chat(key, { model: "local/quarter", messages: LONG });
  expect(refused.status).toBe(402);
  expect(await refused.json()).toMatchObject({
    error: "insufficient_balance",
    message: expect.stringContaining(`Top up at http`),
  });
  expect(await served.balance(accountId)).toEqual({ available: "0", held: "0", posted: "0" });
});

describe("what a model cannot take is refused before any upstream is called:", () => {
  const image = [{ type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }];
  test.each([
    ["text over the context window", "x".repeat(12_001), "context_length"],
    ["a picture for a model that reads text", image, "modality"],
  ])("%s", async (_case, content, rule) => {
    const { key, accountId } = await served.customer();
    served.upstream.run(json(completion()));
    const response = await served.chat(key, { model: "local/narrow", messages: [{ role: "user", content }] });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: "validation_error",
      message: expect.stringContaining("local/narrow"),
      details: [{ field: "messages", rule, message: expect.any(String) }],
    });
    expect(served.upstream.received).toEqual([]);
    expect(await served.balance(accountId)).toEqual({ available: "1000", held: "0", posted: "1000" });
  });

  test("text of borderline length is the upstream's to refuse, and its words are ours then", async () => {
    const { key } = await served.customer();
    served.upstream.run(json('{"error":{"message":"maximum context length is 1000 tokens"}}', 400));
    const messages = [{ role: "user", content: "x".repeat(11_000) }];
    const response = await served.chat(key, { model: "local/narrow", messages });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: "validation_error",
      details: [{ rule: "upstream", message: "maximum context length is 1000 tokens" }],
    });
    expect(served.upstream.received).toHaveLength(1);
  });
});

describe("a key", () => {
  const hello = { model: "demo/echo", messages: [{ role: "user", content: "Hi" }] };

  test("is refused its 61st request within a minute, with the time of the next try", async () => {
    const { key } = await served.customer();
    for (let remaining = 59; remaining >= 0; remaining -= 1) {
      const response = await served.chat(key, hello);
      await response.arrayBuffer();
      expect(response.status).toBe(200);
      expect(response.headers.get("x-ratelimit-limit-requests")).toBe("60");
      expect(response.headers.get("x-ratelimit-remaining-requests")).toBe(String(remaining));
    }
    const models = () => fetch(`${served.baseUrl}/models`, { headers: { authorization: `Bearer ${key}` } });
    for (const ask of [() => served.chat(key, hello), models, () => served.chat(key, hello)]) {
      const refused = await ask();
      expect(refused.status).toBe(429);
      const body = (await refused.json()) as { error: string; retry_after: number };
      expect(body.error).toBe("rate_limit");
      expect(body.retry_after).toBeGreaterThanOrEqual(1);
      expect(body.retry_after).toBeLessThanOrEqual(60);
      const wait = String(body.retry_after);
      expect(Object.fromEntries(refused.headers)).toMatchObject({
        "retry-after": wait,
        "x-ratelimit-limit-requests": "60",
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-requests": `${wait}s`,
        "ratelimit-policy": '"key";q=60;w=60',
        ratelimit: `"key";r=0;t=${wait}`,
      });
    }
  });

  test("loses a slot to a request its balance cannot pay, and none to a wrong one", async () => {
    const rich = await served.customer({ rateLimit: 1 });
    const wrong = [{ ...hello, messages: [] }, { ...hello, model: "demo/nothing" }, hello, hello];
    const poor = await served.customer({ rateLimit: 1, credit: "0" });
    const dear = { ...hello, model: "demo/small" };
    const statuses = async (key: string, bodies: readonly object[]) => {
      const answers: number[] = [];
      for (const body of bodies) answers.push((await served.chat(key, body)).status);
      return answers;
    };
    expect(await statuses(rich.key, wrong)).toEqual([400, 404, 200, 429]);
    expect(await statuses(poor.key, [dear, dear])).toEqual([402, 429]);
  });

  test("is refused at its next request once it is revoked", async () => {
    const { key, keyId } = await served.customer();
    expect((await served.chat(key, hello)).status).toBe(200);
    await served.saldo(["key", "revoke", "--key-id", keyId]);
    const refused = await served.chat(key, hello);
    expect(refused.status).toBe(401);
    expect(await refused.json()).toMatchObject({ error: "invalid_api_key" });
    const models = await fetch(`${served.baseUrl}/models`, { headers: { authorization: `Bearer ${key}` } });
    expect(models.status).toBe(401);
  });
});

test("the books are in order at the end", async () => {
  expect(await served.saldo(["audit"])).toMatchObject({ ok: true, violations: [] });
});
