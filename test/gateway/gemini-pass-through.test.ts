// A client of Google's protocol at an upstream of Google's: each gets the other's bytes.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CatalogModel } from "../../src/catalog/catalog-model.ts";
import { answerConversation } from "../../src/gateway/conversation/answer-conversation.ts";
import { geminiProtocol } from "../../src/gateway/conversation/gemini/gemini-protocol.ts";
import { RpcOutput } from "../../src/gateway/conversation/rpc-output.ts";
import { ValidationError } from "../../src/kernel/errors.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { type FakeGemini, startFakeGemini } from "./fakes/gemini.ts";
import { type Json, sseOf } from "./fakes/gemini-wire.ts";
import { completion, json, type ScriptedUpstream, startScriptedUpstream } from "./scripted-upstream.ts";
import { type Bench, KEY, modelOf, openBench, RATE, upstreamOf } from "./support.ts";

let google: FakeGemini;
let raw: ScriptedUpstream;
const opened: Bench[] = [];

beforeAll(async () => {
  google = await startFakeGemini();
  raw = await startScriptedUpstream();
});
afterAll(async () => {
  await Promise.all(opened.map(({ upstreams }) => upstreams.close()));
  await google.stop();
  await raw.stop();
});

type UpstreamId = "google" | "raw" | "chat";

function open(upstream: UpstreamId, more: Partial<CatalogModel> = { hiddenOutput: true }): Bench {
  const bench = openBench({
    models: [modelOf("acme/m", { routes: [{ upstream, model: "gemini-9" }], ...more })],
    upstreams: [
      upstreamOf("google", google.baseUrl, { kind: "gemini" }),
      upstreamOf("raw", raw.baseUrl, { kind: "gemini" }),
      upstreamOf("chat", raw.baseUrl),
    ],
  });
  opened.push(bench);
  return bench;
}

/** Keeps the bytes that pass. */
class PassedBytes extends RpcOutput {
  readonly passed: Buffer[] = [];
  override pass(bytes: Buffer, format: Parameters<RpcOutput["pass"]>[1]): boolean {
    this.passed.push(bytes);
    return super.pass(bytes, format);
  }
}

type Sent = { readonly stream?: boolean; readonly output?: PassedBytes };

async function send(
  { gateway }: Bench,
  body: Json | string,
  { stream = false, output = new PassedBytes(AbortSignal.any([])) }: Sent = {},
): Promise<unknown> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const call = { requestId: uuidv7(), receivedAtMs: Date.now(), key: KEY, body: Buffer.from(text) };
  const keys = { takeSlot: () => Promise.resolve(RATE) };
  const protocol = geminiProtocol({ model: "acme/m", stream });
  return answerConversation({ gateway, keys, protocol }, call, output).catch((error: unknown) => error);
}

const HI = { role: "user", parts: [{ text: "hi" }] };
const TOOLS = [{ functionDeclarations: [{ name: "look", parameters: { type: "OBJECT" } }] }];
const USAGE = { promptTokenCount: 20, cachedContentTokenCount: 5, candidatesTokenCount: 9, totalTokenCount: 29 };

describe("the request", () => {
  it("is the client's, with the bound that is held", async () => {
    raw.run(json(JSON.stringify({ candidates: [{ content: { parts: [{ text: "a" }] }, finishReason: "STOP" }] })));
    const own = `{"safety_settings":[{"category":"HARM_CATEGORY_HATE_SPEECH","threshold":"OFF"}], "contents":[{"role":"user","parts":[{"text":"\\u00e9"}]}],
      "generationConfig":{"seed":7,"maxOutputTokens":90,"topP":1.0}}`;
    const bench = open("raw");
    bench.ledger.admitWith = ({ leastAmount }) => ({ outcome: "granted", amount: leastAmount, rate: RATE });
    expect(await send(bench, own)).toBe("answered");
    expect(String(raw.received[0]?.body)).toBe(own);
    const large = own.replace("90", "9000");
    expect(await send(bench, large)).toBe("answered");
    expect(String(raw.received[1]?.body)).toBe(own.replace("90", "256"));
  });

  it.each([
    ["nextMonth", { next_month: 1 }],
    ["generationConfig.nextMonth", { generationConfig: { nextMonth: 1 } }],
  ])("is refused where %s is not known here, so that nothing unpriced passes", async (field, more) => {
    raw.run(json(completion()));
    const bench = open("raw");
    const error = await send(bench, { contents: [HI], ...more });
    expect(error).toMatchObject({ details: [{ field, rule: "unknown" }] });
    expect([bench.ledger.admissions, raw.received]).toEqual([[], []]);
    expect(await send(open("chat"), { contents: [HI], ...more })).toBe("answered");
  });

  it("is refused by its field, and nothing is held or asked, where Google would keep or charge for something", async () => {
    raw.run(json(completion()));
    const bench = open("raw");
    const file = { file_data: { file_uri: "https://generativelanguage.googleapis.com/v1beta/files/1" } };
    for (const [field, body] of [
      ["cachedContent", { contents: [HI], cached_content: "cachedContents/1" }],
      ["contents[0].parts[0].fileData", { contents: [{ role: "user", parts: [file] }] }],
      ["tools[0].googleSearch", { contents: [HI], tools: [{ google_search: {} }] }],
      ["generationConfig.maxOutputTokens", { contents: [HI], generation_config: { max_output_tokens: -1 } }],
      ["generationConfig", { contents: [HI], generationConfig: {}, generation_config: { maxOutputTokens: 9 } }],
    ] as const) {
      const error = await send(bench, body);
      expect(error).toBeInstanceOf(ValidationError);
      expect(error).toMatchObject({ details: [{ field }] });
    }
    expect([bench.ledger.admissions, raw.received]).toEqual([[], []]);
  });

  it("goes on with a conversation that another upstream began", async () => {
    const call = { id: "call_1", type: "function", function: { name: "look", arguments: '{"at":1}' } };
    const message = { role: "assistant", content: null, tool_calls: [call] };
    raw.run(json(completion({ choices: [{ index: 0, message, finish_reason: "tool_calls" }] })));
    const output = new PassedBytes(AbortSignal.any([]));
    expect(await send(open("chat"), { contents: [HI], tools: TOOLS }, { output })).toBe("answered");
    const [{ content }] = (output.wholeAnswer as { candidates: [{ content: Json }] }).candidates;
    const result = { functionResponse: { name: "look", response: { output: "done" } } };
    const next = { contents: [HI, content, { role: "user", parts: [result] }], tools: TOOLS };
    expect(await send(open("google"), next)).toBe("answered");
    expect(JSON.stringify(google.lastBody)).toContain('"thoughtSignature":"skip_thought_signature_validator"');
    expect(google.lastBody).toMatchObject({ tools: TOOLS });
  });

  it("is written where it is not in Google's own form", async () => {
    expect(await send(open("google"), { contents: [HI], systemInstruction: "Be brief." })).toBe("answered");
    expect(google.lastBody).toMatchObject({ systemInstruction: { parts: [{ text: "Be brief." }] } });
  });
});

describe("the answer", () => {
  /** What only Google's own clients know, what is not known yet, and JSON that no library writes like this. */
  const MIDDLE = [
    '{"candidates": [{"content": {"role":"model","parts":[{"text":"\\u00e9","thoughtSignature":"U2ln+/=="}]},"avgLogprobs":-1.0e0}]}',
    '{ "candidates":[{"content":{"parts":[{"functionCall":{"name":"look","args":{"at":1.0}}}]},"safetyRatings":[],"of_next_month":[1e2]}] }',
  ];
  const named = (piece: string, id: string): string =>
    `${piece.slice(0, 1)}"modelVersion":"acme/m","responseId":"${id}",${piece.slice(1)}`;

  it("passes as it is, but for the names and the bill, where it is streamed", async () => {
    const last = { candidates: [{ finishReason: "STOP" }], usageMetadata: USAGE, modelVersion: "gemini-9-001" };
    raw.run((response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end([...MIDDLE.map((piece) => `data: ${piece}\r\n\r\n`), sseOf(last)].join(""));
    });
    const bench = open("raw");
    const output = new PassedBytes(AbortSignal.any([]));
    expect(await send(bench, { contents: [HI] }, { stream: true, output })).toBe("answered");
    const { requestId, cost } = bench.ledger.settlement;
    expect(bench.ledger.settlement).toMatchObject({ basis: "exact", inputTokensUncached: 15, outputTokens: 9 });
    const usageMetadata = { ...USAGE, costIdr: String(Number(cost) / 1e6) };
    const shown = Buffer.concat(output.passed).toString("utf8");
    const begun = MIDDLE.map((piece) => `data: ${named(piece, requestId)}\n\n`).join("");
    expect(shown.startsWith(begun)).toBe(true);
    expect(JSON.parse(shown.slice(begun.length + "data: ".length))).toEqual({
      ...last,
      modelVersion: "acme/m",
      responseId: requestId,
      usageMetadata,
    });
  });

  it("passes as it is, but for the names and the bill, where it is whole", async () => {
    const candidates = [{ content: { parts: [{ text: "é" }] }, finishReason: "STOP", citationMetadata: { a: [1] } }];
    raw.run(
      json(JSON.stringify({ candidates, usageMetadata: USAGE, modelVersion: "gemini-9-001", createTime: "now" })),
    );
    const bench = open("raw");
    const output = new PassedBytes(AbortSignal.any([]));
    expect(await send(bench, { contents: [HI] }, { output })).toBe("answered");
    const { requestId, cost } = bench.ledger.settlement;
    expect(output.wholeAnswer).toEqual({
      candidates,
      usageMetadata: { ...USAGE, costIdr: String(Number(cost) / 1e6) },
      modelVersion: "acme/m",
      responseId: requestId,
      createTime: "now",
    });
  });

  it("ends with an error of Google's form where it breaks off", async () => {
    raw.run((response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(`data: ${MIDDLE[0] ?? ""}\r\n\r\n`, () => response.destroy());
    });
    const bench = open("raw");
    const output = new PassedBytes(AbortSignal.any([]));
    const work = send(bench, { contents: [HI] }, { stream: true, output });
    const pieces = await Array.fromAsync(output.eventsOf(work));
    expect(pieces).toMatchObject([{ candidates: [{}] }, { error: { status: "ABORTED", code: 409 } }]);
    expect(bench.ledger.settlement).toMatchObject({ basis: "estimated" });
  });
});
