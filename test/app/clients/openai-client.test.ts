import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { completion, json } from "../../gateway/scripted-upstream.ts";
import { type Customer, type ServedSaldo, serveSaldo } from "./served-saldo.ts";

let served: ServedSaldo;
let customer: Customer;
let client: OpenAI;

beforeAll(async () => {
  served = await serveSaldo({ models: { busy: { price: { input: "5000", output: "15000" } } } });
  customer = await served.customer({ rateLimit: 0 });
  client = clientOf(customer.key);
});
afterAll(() => served.stop());

/** The client a user makes, with the address and the key. */
function clientOf(
  apiKey: string,
  options: { maxRetries?: number; fetch?: typeof fetch; defaultHeaders?: Record<string, string> } = {},
): OpenAI {
  return new OpenAI({ apiKey, baseURL: served.baseUrl, ...options });
}

const user = (content: string) => [{ role: "user", content }] as const satisfies OpenAI.ChatCompletionMessageParam[];
const weather: OpenAI.ChatCompletionTool = {
  type: "function",
  function: {
    name: "get_weather",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
};

/** Reads a stream to its end or to its error. */
async function readAll(stream: AsyncIterable<OpenAI.ChatCompletionChunk>) {
  const chunks: OpenAI.ChatCompletionChunk[] = [];
  let error: unknown = null;
  try {
    for await (const chunk of stream) chunks.push(chunk);
  } catch (thrown) {
    error = thrown;
  }
  const choices = chunks.flatMap((chunk) => chunk.choices);
  return {
    chunks,
    error,
    text: choices.map(({ delta }) => delta.content ?? "").join(""),
    finishReasons: choices.map((choice) => choice.finish_reason).filter((reason) => reason !== null),
  };
}

/** The error of a call. */
async function refusalOf(call: PromiseLike<unknown>): Promise<InstanceType<typeof OpenAI.APIError>> {
  try {
    await call;
  } catch (error) {
    if (error instanceof OpenAI.APIError) return error;
    throw error;
  }
  throw new Error("the call was answered");
}

describe("the openai package", () => {
  test("lists the models and retrieves one whose id has a slash", async () => {
    const ids: string[] = [];
    for await (const model of client.models.list()) ids.push(model.id);
    expect(ids).toEqual([
      "demo/echo",
      "demo/embed",
      "demo/large",
      "demo/small",
      "demo/thinking",
      "demo/vision",
      "local/busy",
    ]);
    const model = await client.models.retrieve("demo/small");
    expect(model).toMatchObject({ id: "demo/small", object: "model", owned_by: expect.any(String) });
    expect(model.created).toBeGreaterThan(1_700_000_000);
  });

  test("gets a completion whose request id is found in the usage", async () => {
    const own = await served.customer();
    const answer = await clientOf(own.key).chat.completions.create({
      model: "demo/small",
      messages: [{ role: "system", content: "Be brief." }, ...user("Hello!")],
    });
    expect(answer).toMatchObject({
      object: "chat.completion",
      model: "demo/small",
      choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant" } }],
    });
    expect(answer.choices[0]?.message.content).toContain("demo model small");
    const { records } = await served.saldo(["usage", "list", "--account", own.accountId]);
    expect(records).toHaveLength(1);
    expect(records?.[0]).toMatchObject({
      // eslint-disable-next-line no-underscore-dangle -- so the package names it
      requestId: answer._request_id,
      model: "demo/small",
      basis: "exact",
      inputTokensUncached: answer.usage?.prompt_tokens,
      outputTokens: answer.usage?.completion_tokens,
      charge: (answer.usage as { cost_idr?: string } | undefined)?.cost_idr,
    });
    expect(await served.balance(own.accountId)).toMatchObject({ held: "0" });
  });

  test("streams a complete answer without usage where none was asked for", async () => {
    const said = "Selamat pagi, apa kabar? Ini sebuah pesan yang panjang dengan é, 日本 dan 🙂.";
    const stream = await client.chat.completions.create({ model: "demo/echo", messages: user(said), stream: true });
    const { chunks, text, finishReasons, error } = await readAll(stream);
    expect(error).toBeNull();
    expect(text).toBe(said);
    expect(finishReasons).toEqual(["stop"]);
    expect(chunks.every((chunk) => chunk.choices.length === 1 && !chunk.usage)).toBe(true);
  });

  test("streams the usage and its cost in the last chunk where it was asked for", async () => {
    const stream = await client.chat.completions.create({
      model: "demo/small",
      messages: user("Hello!"),
      stream: true,
      stream_options: { include_usage: true },
    });
    const { chunks, text } = await readAll(stream);
    expect(text).toContain("demo model small");
    const last = chunks.at(-1);
    expect(last).toMatchObject({
      choices: [],
      usage: { completion_tokens: expect.any(Number), cost_idr: expect.stringMatching(/^0\.\d+$/) },
    });
    expect(chunks.filter((chunk) => chunk.usage)).toHaveLength(1);
  });

  test("gets a tool call, whole and streamed", async () => {
    const request = { model: "demo/small", messages: user("!tool"), tools: [weather] };
    const [choice] = (await client.chat.completions.create(request)).choices;
    expect(choice).toMatchObject({
      finish_reason: "tool_calls",
      message: {
        content: null,
        tool_calls: [{ type: "function", function: { name: "get_weather", arguments: '{"city":"demo"}' } }],
      },
    });
    const streamed = await client.chat.completions.stream(request).finalChatCompletion();
    expect(streamed.choices[0]).toMatchObject({
      finish_reason: "tool_calls",
      message: { tool_calls: [{ function: { name: "get_weather", arguments: '{"city":"demo"}' } }] },
    });
  });

  test("shows a picture to a model that takes pictures", async () => {
    const answer = await client.chat.completions.create({
      model: "demo/vision",
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "What is this?" },
            { type: "image_url", image_url: { url: `data:image/png;base64,${"A".repeat(4_000)}`, detail: "low" } },
          ],
        },
      ],
    });
    expect(answer.choices[0]?.message.content).toContain("demo model vision");
    expect(answer.usage?.prompt_tokens).toBeGreaterThan(85);
  });
});

describe("the openai package raises", () => {
  test.each([
    ["messages", { messages: [] }],
    ["temperature", { temperature: 3 }],
    ["max_tokens", { max_tokens: 0 }],
    ["max_tokens", { max_tokens: -1 }],
    ["max_tokens", { max_tokens: 1.5 }],
    ["max_tokens", { max_tokens: "100" as unknown as number }],
    ["max_tokens", { max_tokens: 2 ** 63 }],
    [
      "messages[0].role",
      { messages: [{ role: "wizard", content: "Hi" } as unknown as OpenAI.ChatCompletionMessageParam] },
    ],
  ])("BadRequestError for a wrong %s: %j", async (field, wrong) => {
    const error = await refusalOf(
      client.chat.completions.create({ model: "demo/echo", messages: user("Hi"), ...wrong }),
    );
    expect(error).toBeInstanceOf(OpenAI.BadRequestError);
    expect(error.requestID).toMatch(/^[0-9a-f-]{36}$/);
    const response = await served.chat(customer.key, { model: "demo/echo", messages: user("Hi"), ...wrong });
    expect(await response.json()).toMatchObject({ error: "validation_error", details: [{ field }] });
  });

  test("AuthenticationError for a key that was never issued", async () => {
    const error = await refusalOf(clientOf("gw_nobody").models.list());
    expect(error).toBeInstanceOf(OpenAI.AuthenticationError);
    expect(error.message).toContain("invalid_api_key");
  });

  test("an APIError of status 402 for an empty account, at the first and only attempt", async () => {
    const poor = await served.customer({ credit: "0" });
    let attempts = 0;
    const counting: typeof fetch = (...request) => {
      attempts += 1;
      return fetch(...request);
    };
    const error = await refusalOf(
      clientOf(poor.key, { fetch: counting }).chat.completions.create({ model: "demo/small", messages: user("Hi") }),
    );
    expect(error).toMatchObject({ status: 402, message: '402 "insufficient_balance"' });
    expect(attempts).toBe(1);
  });

  test("NotFoundError for a model that is not in the catalog", async () => {
    const calls = [
      () => client.chat.completions.create({ model: "demo/nothing", messages: user("Hi") }),
      () => client.models.retrieve("demo/nothing"),
    ];
    for (const call of calls) {
      const error = await refusalOf(call());
      expect(error).toBeInstanceOf(OpenAI.NotFoundError);
      expect(error.message).toContain("model_not_found");
    }
  });

  test.each(["context_length_exceeded", "content_policy_violation"])(
    "BadRequestError with the code %s where the upstream refuses for that",
    async (code) => {
      served.upstream.run(json(JSON.stringify({ error: { message: "No", code } }), 400));
      const inOpenAiShape = clientOf(customer.key, { defaultHeaders: { "x-saldo-error-format": "openai" } });
      for (const stream of [false, true]) {
        const error = await refusalOf(
          inOpenAiShape.chat.completions.create({ model: "local/busy", messages: user("Hi"), stream }),
        );
        expect(error).toBeInstanceOf(OpenAI.BadRequestError);
        expect(error.code).toBe(code);
      }
    },
  );

  test("RateLimitError for the request over the key's limit", async () => {
    const { key } = await served.customer({ rateLimit: 2 });
    const limited = clientOf(key, { maxRetries: 0 });
    await limited.models.list();
    await limited.chat.completions.create({ model: "demo/echo", messages: user("Hi") });
    const error = await refusalOf(limited.chat.completions.create({ model: "demo/echo", messages: user("Hi") }));
    expect(error).toBeInstanceOf(OpenAI.RateLimitError);
    expect(Number(error.headers?.get("retry-after"))).toBeGreaterThanOrEqual(1);
  });

  test("InternalServerError of status 503 for a busy upstream, after exactly two calls of it, and charges nothing", async () => {
    const own = await served.customer();
    const patient = clientOf(own.key, { maxRetries: 0 });
    served.upstream.run(json('{"error":{"message":"overloaded"}}', 503, { "retry-after": "9" }));
    const error = await refusalOf(patient.chat.completions.create({ model: "local/busy", messages: user("Hi") }));
    expect(error).toBeInstanceOf(OpenAI.InternalServerError);
    expect(error.status).toBe(503);
    expect(error.headers?.get("retry-after")).toBe("9");
    expect(served.upstream.received).toHaveLength(2);
    const demo = await refusalOf(patient.chat.completions.create({ model: "demo/small", messages: user("!503x") }));
    expect(demo).toBeInstanceOf(OpenAI.InternalServerError);
    expect(demo.status).toBe(503);
    expect(await served.balance(own.accountId)).toEqual({ available: "1000", held: "0", posted: "1000" });
  });

  test("nothing where the internal retry succeeds", async () => {
    served.upstream.run((response, received, call) => {
      const script = call === 1 ? json("{}", 503) : json(completion());
      return script(response, received, call);
    });
    const answer = await client.chat.completions.create({ model: "local/busy", messages: user("Hi") });
    expect(answer.choices[0]?.message.content).toBe("Halo!");
    expect(served.upstream.received).toHaveLength(2);
    await expect(client.chat.completions.create({ model: "demo/echo", messages: user("!503") })).resolves.toBeDefined();
  });

  test("an APIError in the middle of a stream that breaks, which never looks complete", async () => {
    const own = await served.customer();
    const stream = await clientOf(own.key).chat.completions.create({
      model: "demo/small",
      messages: user("!cut"),
      stream: true,
      stream_options: { include_usage: true },
    });
    const { error, text, finishReasons, chunks } = await readAll(stream);
    expect(error).toBeInstanceOf(OpenAI.APIError);
    expect(error).toMatchObject({ code: "upstream_busy" });
    expect(text.length).toBeGreaterThan(0);
    expect(finishReasons).toEqual([]);
    expect(chunks.some((chunk) => chunk.usage)).toBe(false);
    expect(await served.usage(own.accountId)).toMatchObject([{ basis: "estimated" }]);
  });
});
