// Gemini's protocol over HTTP as Google's clients use it: a real gateway over a scripted upstream of chat, and what it bills.

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createCountWindows } from "../../../src/gateway/conversation/count-window.ts";
import { UNSIGNED_CALL } from "../../../src/gateway/conversation/gemini/opaque-signature.ts";
import { createGeminiService } from "../../../src/gateway/gemini-service.ts";
import { usePlayground } from "../../gateway/playground.ts";
import { chunk, completion, json, ordinaryEvents, stream, usageChunk, wire } from "../../gateway/scripted-upstream.ts";
import { KEY, modelOf, RATE } from "../../gateway/support.ts";
import { type Running, SECRET, startServers } from "../fakes.ts";

const playground = usePlayground();
const SOLD = modelOf("local/m");
/** The cost of the scripted upstream's usage: 7 tokens of input, 4 cached ones and 3 of output. */
const COST = { units: 83_800n, text: "0.0838" };
let running: Running;
beforeEach(async () => {
  const { gateway } = playground.bench;
  const gemini = createGeminiService({
    gateway,
    keys: { takeSlot: async () => RATE },
    catalog: { snapshot: async () => ({ models: new Map([[SOLD.id, SOLD]]), upstreams: new Map(), takenAtMs: 0 }) },
    allowedModelsOf: () => null,
    ...createCountWindows(),
    caller: async () => ({ key: KEY, requestId: "00000000-0000-7000-8000-000000000000", receivedAtMs: 0 }),
  });
  running = await startServers({ gateway, implementations: { gemini } });
});
afterEach(() => running.servers.close(1_000));

const ASK = { contents: [{ role: "user", parts: [{ text: "hi" }] }] };
const STREAM = "streamGenerateContent?alt=sse";
type Asked = { readonly base?: string; readonly model?: string; readonly headers?: Record<string, string> };

function ask(action: string, body: object = ASK, asked: Asked = {}): Promise<Response> {
  const { base = "/v1beta", model = SOLD.id, headers = { "x-goog-api-key": SECRET } } = asked;
  const init = { method: "POST", headers: { "content-type": "application/json", ...headers } };
  return fetch(`${running.http}${base}/models/${model}:${action}`, { ...init, body: JSON.stringify(body) });
}

type Piece = {
  readonly candidates?: readonly { readonly content: { readonly parts: readonly object[] }; finishReason?: string }[];
  readonly error?: object;
};

async function piecesOf(response: Response): Promise<Piece[]> {
  const text = await response.text();
  expect(text.endsWith("\n\n")).toBe(true);
  const events = text.slice(0, -2).split("\n\n");
  return events.map((event) => JSON.parse(/^data: (.*)$/.exec(event)?.[1] ?? "") as Piece);
}

const partsOf = (pieces: readonly Piece[]) =>
  pieces.flatMap(({ candidates = [] }) => candidates[0]?.content.parts ?? []);
const errorOf = async (response: Response): Promise<unknown> => ({
  status: response.status,
  body: await response.json(),
});
const detailOf = (type: string, facts: object) =>
  expect.objectContaining({ "@type": `type.googleapis.com/google.rpc.${type}`, ...facts }) as object;

describe("a client of Gemini", () => {
  it.each(["/v1beta", "/v1"])("streams an answer below %s, billed as chat", async (base) => {
    playground.upstream.run(stream(wire(ordinaryEvents())));
    const response = await ask(STREAM, ASK, { base });
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "text/event-stream; charset=utf-8",
      "x-ratelimit-remaining-requests": "59",
    });
    const pieces = await piecesOf(response);
    expect(partsOf(pieces)).toEqual([{ text: "Halo" }, { text: " dunia" }, { text: "" }]);
    expect(pieces.at(-1)).toMatchObject({
      candidates: [{ finishReason: "STOP" }],
      usageMetadata: { promptTokenCount: 11, cachedContentTokenCount: 4, candidatesTokenCount: 3, costIdr: COST.text },
      modelVersion: SOLD.id,
      responseId: response.headers.get("x-request-id"),
    });
    expect(playground.bench.ledger.settlement).toMatchObject({ cost: COST.units, basis: "exact", streamed: true });
    expect(JSON.parse(String(playground.upstream.received[0]?.body))).toMatchObject({
      model: "m",
      messages: [{ role: "user", content: "hi" }],
    });
  });

  it("answers in one piece, with its cost", async () => {
    playground.upstream.run(json(completion()));
    const response = await ask("generateContent");
    expect(response.headers.get("x-saldo-cost-idr")).toBe(COST.text);
    expect(await response.json()).toMatchObject({
      candidates: [{ content: { role: "model", parts: [{ text: "Halo!" }] }, finishReason: "STOP", index: 0 }],
      usageMetadata: { totalTokenCount: 14, costIdr: COST.text },
    });
    expect(playground.bench.ledger.settlement).toMatchObject({ cost: COST.units, streamed: false });
  });

  it("gets the same pieces however the upstream's bytes are split", async () => {
    const call = { index: 0, id: "a", type: "function", function: { name: "look", arguments: '{"x":"é"}' } };
    const events = [chunk({ content: "aé€🙂" }), chunk({ tool_calls: [call] }, "tool_calls"), usageChunk(), "[DONE]"];
    const bytes = Buffer.from(wire(events));
    const from = bytes.indexOf("aé€");
    for (let at = from; at <= from + Buffer.byteLength("aé€🙂"); at += 1) {
      playground.upstream.run(stream(bytes.subarray(0, at), bytes.subarray(at)));
      expect(partsOf(await piecesOf(await ask(STREAM)))).toEqual([
        { text: "aé€🙂" },
        { functionCall: { id: "a", name: "look", args: { x: "é" } }, thoughtSignature: UNSIGNED_CALL },
      ]);
    }
  });

  it("may send its key as x-goog-api-key or Bearer, and never in the address", async () => {
    const status = async (headers: Record<string, string>, action = "generateContent") => {
      playground.upstream.run(json(completion()));
      return (await ask(action, ASK, { headers })).status;
    };
    expect(await status({ authorization: `Bearer ${SECRET}` })).toBe(200);
    expect(await status({ "x-goog-api-key": SECRET, authorization: "Bearer other" })).toBe(200);
    expect(await status({ "x-api-key": SECRET })).toBe(401);
    expect(await status({}, `generateContent?key=${SECRET}`)).toBe(401);
  });

  it("may write the slash of a model's id in either form", async () => {
    playground.upstream.run(json(completion()));
    expect((await ask("generateContent", ASK, { model: "local%2Fm" })).status).toBe(200);
  });

  it("ends a stream that broke off with an error", async () => {
    playground.upstream.run(stream(wire([chunk({ content: "Halo" })])));
    const pieces = await piecesOf(await ask(STREAM));
    expect(pieces.at(-1)).toMatchObject({ error: { code: 409, status: "ABORTED" } });
    expect(pieces.some(({ candidates }) => candidates?.[0]?.finishReason !== undefined)).toBe(false);
    expect(playground.bench.ledger.settlement).toMatchObject({ basis: "estimated" });
  });
});

describe("errors of Gemini", () => {
  it("have Google's form, and name the wrong field", async () => {
    const refused = await ask("generateContent", { ...ASK, cachedContent: "cachedContents/1" });
    expect(await errorOf(refused)).toEqual({
      status: 400,
      body: {
        error: {
          code: 400,
          message: expect.stringContaining("cachedContent") as string,
          status: "INVALID_ARGUMENT",
          details: [
            detailOf("ErrorInfo", { reason: "VALIDATION_ERROR", domain: "saldo" }),
            detailOf("BadRequest", { fieldViolations: [expect.objectContaining({ field: "cachedContent" })] }),
          ],
        },
      },
    });
    const array = await ask("streamGenerateContent");
    expect(await errorOf(array)).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringContaining("alt") } },
    });
    expect(playground.bench.ledger.admissions).toEqual([]);
  });

  it("name a key or a model that is not known", async () => {
    const stranger = await ask("generateContent", ASK, { headers: { "x-goog-api-key": "gw_wrong" } });
    expect(await errorOf(stranger)).toMatchObject({ status: 401, body: { error: { status: "UNAUTHENTICATED" } } });
    const unknown = await ask("generateContent", ASK, { model: "no/model" });
    expect(await errorOf(unknown)).toMatchObject({ status: 404, body: { error: { status: "NOT_FOUND" } } });
  });

  it("name when to try again, where waiting helps", async () => {
    playground.upstream.run(json("no", 500));
    expect(await errorOf(await ask("generateContent"))).toMatchObject({
      status: 503,
      body: { error: { status: "UNAVAILABLE", details: [{}, detailOf("RetryInfo", { retryDelay: "5s" })] } },
    });
    running.keys.full = true;
    expect(await errorOf(await ask("generateContent"))).toMatchObject({
      status: 429,
      body: { error: { status: "RESOURCE_EXHAUSTED", details: [{}, detailOf("RetryInfo", { retryDelay: "17s" })] } },
    });
  });

  it("are those of a wrong verb and a wrong path too", async () => {
    const verb = await fetch(`${running.http}/v1beta/models/${SOLD.id}:generateContent`);
    expect([verb.headers.get("allow"), await errorOf(verb)]).toMatchObject([
      "POST",
      { status: 405, body: { error: {} } },
    ]);
    const path = await ask("embedContent");
    expect(await errorOf(path)).toMatchObject({ status: 404, body: { error: { status: "NOT_FOUND" } } });
  });
});

describe("a count of tokens", () => {
  it("is free, of contents or of a whole request", async () => {
    running.keys.full = true;
    const tools = [{ functionDeclarations: [{ name: "look", description: "looks around" }] }];
    const [alone, whole] = await Promise.all([
      ask("countTokens"),
      ask("countTokens", { generateContentRequest: { model: "models/local/m", ...ASK, tools } }, { base: "/v1" }),
    ]);
    const counts = (await Promise.all([alone.json(), whole.json()])) as { totalTokens: number }[];
    expect(counts[0]?.totalTokens).toBeGreaterThan(1);
    expect(counts[1]?.totalTokens).toBeGreaterThan((counts[0]?.totalTokens ?? 0) + 8);
    expect(playground.bench.ledger.admissions).toEqual([]);
  });

  it("names what is wrong", async () => {
    const file = { role: "user", parts: [{ fileData: { fileUri: "x" } }] };
    const response = await ask("countTokens", { contents: [file] });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("contents[0].parts[0].fileData");
    expect((await ask("countTokens", ASK, { model: "no/model" })).status).toBe(404);
  });
});
