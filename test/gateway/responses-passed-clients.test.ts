// What clients make of answers of Responses that pass: OpenAI's own, those of RPC, and those who ask again or elsewhere.

import { createClient, createRouterTransport } from "@connectrpc/connect";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ResponsesService } from "#gen/saldo/gateway/v1/responses_service_pb.ts";
import { RESPONSES_FORMAT } from "../../src/gateway/formats/responses/responses-format.ts";
import { createResponsesService } from "../../src/gateway/responses-service.ts";
import { readKeptAnswer, writeKeptAnswer } from "../../src/gateway/retries/kept-answer.ts";
import type { Retries } from "../../src/gateway/retries/retries.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { eventsOf, type Json, sseOf } from "./fakes/responses-wire.ts";
import { HI, ITEMS, lastBody, PassedBytes, RESPONSE, send, startUpstreams, streamed, TAG } from "./pass-responses.ts";
import { chunk, completion, json, type Script } from "./scripted-upstream.ts";
import { type Bench, KEY, RATE } from "./support.ts";

let upstreams: Awaited<ReturnType<typeof startUpstreams>>;
beforeAll(async () => {
  upstreams = await startUpstreams();
});
afterAll(() => upstreams.stop());

/** OpenAI's client at a gateway, without a network between them. */
function clientOf(bench: Bench): OpenAI {
  return new OpenAI({
    apiKey: "key",
    maxRetries: 0,
    async fetch(_url, init) {
      const body = JSON.parse(typeof init?.body === "string" ? init.body : "{}") as Json;
      if (body["stream"] !== true) {
        const output = new PassedBytes();
        await send(bench, body, output);
        return Response.json(output.wholeAnswer);
      }
      const { events } = await streamed(bench, body);
      return new Response(events.map(sseOf).join(""), { headers: { "content-type": "text/event-stream" } });
    },
  });
}

const LOOK = { type: "function" as const, name: "look", parameters: { type: "object" }, strict: false };

describe("the client of OpenAI", () => {
  const ask = { model: "acme/m", input: "!think !callall", reasoning: { effort: "low" as const }, tools: [LOOK] };

  it("reads a stream of thoughts and calls, and goes on with it", async () => {
    const client = clientOf(upstreams.open(["gpt"]));
    const { output, status, model } = await client.responses.stream(ask).finalResponse();
    expect({ status, model }).toEqual({ status: "completed", model: "acme/m" });
    expect(output.map(({ type }) => type)).toEqual(["reasoning", "function_call"]);
    const [, call] = output;
    const callId = call?.type === "function_call" ? call.call_id : "";
    const next = await client.responses.create({
      ...ask,
      input: [
        { role: "user", content: "hi" },
        ...(output as OpenAI.Responses.ResponseInputItem[]),
        { type: "function_call_output", call_id: callId, output: "done" },
      ],
    });
    expect(next.output_text).toBe("done");
  });

  it("sees that a stream broke off", async () => {
    const client = clientOf(upstreams.open(["gpt"]));
    const broken = await client.responses.stream({ ...ask, input: `${"Hello again. ".repeat(9)}!cut` }).finalResponse();
    expect(broken).toMatchObject({ status: "failed", error: { code: "server_is_overloaded" } });
  });
});

it("a caller of RPC reads what passes, and events that have no number", async () => {
  const bench = upstreams.open(["raw"]);
  const service = createResponsesService({
    gateway: bench.gateway,
    keys: { takeSlot: async () => RATE },
    allowedModelsOf: () => null,
    takeCountedBytes: () => undefined,
    caller: async () => ({ key: KEY, requestId: uuidv7(), receivedAtMs: Date.now() }),
  });
  const client = createClient(
    ResponsesService,
    createRouterTransport((router) => router.service(ResponsesService, service)),
  );
  const input = { kind: { case: "stringValue" as const, value: "hi" } };
  upstreams.raw.run(json(JSON.stringify({ ...RESPONSE, created_at: 1_790_000_000.5 })));
  const answer = await client.createResponse({ model: "acme/m", input });
  expect(answer).toMatchObject({ model: "acme/m", status: "completed", createdAt: 1_790_000_000 });
  expect(answer.output[0]).toMatchObject({ encrypted_content: "raw.gAAA-_=" });
  upstreams.raw.run((response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const events = eventsOf(RESPONSE).map(({ sequence_number: _number, ...event }): Json => event);
    response.end([...events.slice(0, 3), { type: "keepalive" }, ...events.slice(3)].map(sseOf).join(""));
  });
  const events = await Array.fromAsync(client.streamResponse({ model: "acme/m", input }));
  expect(events.map(({ type }) => type)).toContain("keepalive");
  expect(events.at(-1)).toMatchObject({ type: "response.completed", sequenceNumber: 0 });
});

it("a client that searches for its tools gets the search, and the model what it has found", async () => {
  const bench = upstreams.open(["gpt"]);
  const tools = [{ type: "tool_search", execution: "client", parameters: { type: "object" } }];
  const output = new PassedBytes();
  await send(bench, { input: "!find", tools }, output);
  const { output: items } = output.wholeAnswer as { readonly output: readonly Json[] };
  expect(items).toMatchObject([{ type: "tool_search_call", execution: "client", arguments: { query: "a" } }]);
  const found = { type: "tool_search_output", call_id: items[0]?.["call_id"], execution: "client", tools: [LOOK] };
  const next = { input: [{ role: "user", content: "hi" }, ...items, found], tools };
  expect(await send(upstreams.open(["gpt"]), next)).toBe("answered");
  const [, search, loaded] = lastBody(upstreams.gpt)["input"] as Json[];
  expect(search).toEqual(Object.fromEntries(Object.entries(items[0] ?? {}).filter(([name]) => name !== "id")));
  expect(loaded).toEqual(found);
});

describe("a model with routes of two protocols", () => {
  const refusesResponses: Script = (response, received, call) => {
    const asked = JSON.parse(String(received.body)) as Json;
    if ("input" in asked) return void response.writeHead(503).end();
    if (asked["stream"] !== true) return json(completion())(response, received, call);
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(`data: ${chunk({ content: "Halo!" }, "stop")}\n\ndata: [DONE]\n\n`);
  };
  const protocols = () =>
    upstreams.raw.received.map(({ body }) => (body.includes('"messages"') ? "chat" : "responses"));

  it("answers by the one where the other cannot, streamed", async () => {
    upstreams.raw.run(refusesResponses);
    const bench = upstreams.open(["raw", "chat"]);
    const { events } = await streamed(bench, HI);
    expect(events.at(-1)).toMatchObject({ type: "response.completed", response: { model: "acme/m" } });
    expect(events.map((event) => event["sequence_number"])).toEqual(events.map((_, at) => at));
    expect(bench.ledger.settlement).toMatchObject({ upstream: "chat", basis: "estimated" });
    expect(protocols()).toEqual(["responses", "chat"]);
  });

  it("answers by the one where the other cannot, in one piece", async () => {
    upstreams.raw.run(refusesResponses);
    const bench = upstreams.open(["raw", "chat"]);
    expect(await send(bench, HI)).toBe("answered");
    expect(bench.ledger.settlement).toMatchObject({ upstream: "chat", basis: "exact" });
    expect(protocols()).toEqual(["responses", "chat"]);
  });

  it("passes by the one where the other fails behind a comment", async () => {
    upstreams.raw.run((response) => void response.writeHead(503).end());
    const bench = upstreams.open(["chat", "gpt"]);
    const { events } = await streamed(bench, { input: "!think", reasoning: { effort: "low" } });
    expect(JSON.stringify(events)).toMatch(/"encrypted_content":"gpt\.gAAAA/);
    expect(bench.ledger.settlement).toMatchObject({ upstream: "gpt", basis: "exact" });
  });
});

it.each([true, false])("an idempotency key gives what has passed again, streamed: %s", async (stream) => {
  let kept = Buffer.alloc(0);
  const retries: Retries = {
    digestOf: (body) => Promise.resolve(body),
    keep: async (_name, answer) => void (kept = Buffer.from(writeKeptAnswer(answer))),
    find: () => Promise.resolve(readKeptAnswer(kept)),
  };
  const bench = upstreams.open(["gpt"], {}, { retries });
  const named = {
    ...bench,
    gateway: {
      ...bench.gateway,
      answerChat: ((call, sink) =>
        bench.gateway.answerChat({ ...call, idempotencyKey: "k" }, sink)) as Bench["gateway"]["answerChat"],
    },
  };
  bench.ledger.admitWith = ({ amount }) => ({ outcome: "granted", amount, rate: RATE, keepsAnswers: true });
  const body = { input: "!think", reasoning: { effort: "low" } };
  const ask = async (): Promise<unknown> => {
    if (stream) return (await streamed(named, body)).events;
    const output = new PassedBytes();
    await send(named, body, output);
    return output.wholeAnswer;
  };
  const first = await ask();
  expect(JSON.stringify(first)).toMatch(/"encrypted_content":"gpt\.gAAAA/);
  const { requestId, cost } = bench.ledger.settlement;
  bench.ledger.admitWith = () => ({ outcome: "answered", requestId, charge: cost, keepsAnswers: true });
  expect(await ask()).toEqual(first);
  expect(bench.ledger.settlements).toHaveLength(1);
});

describe("what is written here in place of an upstream's events", () => {
  const native = { origin: "raw", repeated: { metadata: { order: "7" } }, hidden: [TAG] };
  const open = () => RESPONSES_FORMAT.openStream({ names: { id: "ours", model: "acme/m" }, wantsUsage: false, native });
  const BILLED = {
    counts: { inputTokensUncached: 1, inputTokensCached: 0, outputTokens: 1 },
    basis: "exact",
    clamped: false,
    settled: { cost: 1n, charge: 1n },
    reasoningTokens: 0,
    isAsReported: false,
  } as const;

  it("has thoughts under the name of their upstream, where an answer goes no further", () => {
    const stream = open();
    for (const event of eventsOf(RESPONSE).slice(0, -2)) {
      const read = stream.read(Buffer.from(sseOf(event)));
      if (read.meaning.kind === "part") stream.show(read, read.meaning);
    }
    const shown = String(stream.stop([0], BILLED));
    expect(shown).toContain('"encrypted_content":"raw.gAAA-_="');
    expect(shown).toContain('"metadata":{"order":"7"}');
    expect(shown).not.toContain(TAG);
  });

  it("has them where a whole answer came in place of a stream", () => {
    const stream = open();
    const unstreamed = stream.readUnstreamed(Buffer.from(JSON.stringify(RESPONSE)));
    if (unstreamed.kind === "failed") throw new Error("it is an answer");
    const shown = String(stream.complete([unstreamed.shown], BILLED));
    expect(shown.match(/"encrypted_content":"[^"]*"/g)).toEqual(Array(3).fill('"encrypted_content":"raw.gAAA-_="'));
    expect(shown).not.toContain(TAG);
    expect(shown).toContain(JSON.stringify(ITEMS[1]));
  });
});
