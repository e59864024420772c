// An upstream of our own that speaks Google's Gemini API over HTTP. The last text of the user decides how it answers; it refuses what
// Google refuses, keeps each request, has an implicit prompt cache, and knows what it would charge.

import type { ServerResponse } from "node:http";
import { answerTo, type FakeAnswer } from "./gemini-answers.ts";
import { type FakeRequest, type Script, startFakeServer, writeStream } from "./fake-server.ts";
import { refusalOf } from "./gemini-check.ts";
import { type Json, piecesOf, sseOf } from "./gemini-wire.ts";

/** The usage of a call: what its bill must agree with. The input has what was cached. */
export type TrueUsage = {
  readonly input: number;
  readonly cached: number;
  /** Thoughts are beside it. */
  readonly answer: number;
  readonly thoughts: number;
};

export type FakeGemini = Awaited<ReturnType<typeof startFakeGemini>>;

const PATH = /^\/v1beta\/models\/([^/:]+):(generateContent|streamGenerateContent\?alt=sse)$/;

/** `thinks`: the model thinks, and demands signatures. `script` decides in place of the words in the prompt. */
export async function startFakeGemini({
  thinks = true,
  script,
}: { readonly thinks?: boolean; readonly script?: Script<FakeAnswer, TrueUsage> } = {}) {
  const truths: TrueUsage[] = [];
  const cache = new Set<string>();
  const signatures = new Set<string>();

  /** Contents are read from the cache as far as their beginning was seen before. */
  function inputOf({ systemInstruction, tools, contents }: Json): Pick<TrueUsage, "input" | "cached"> {
    let prefix = JSON.stringify([systemInstruction, tools]);
    let [input, cached] = [Math.ceil(prefix.length / 8), 0];
    for (const content of contents as Json[]) {
      const text = JSON.stringify(content);
      prefix += text;
      input += Math.ceil(text.length / 8);
      if (cache.has(prefix)) cached = input;
      cache.add(prefix);
    }
    return { input, cached };
  }

  function answerOf(body: Json, planned: FakeAnswer, { model, number }: { model: string; number: number }): Json {
    const usage = { ...inputOf(body), answer: planned.answerTokens, thoughts: planned.thoughtTokens };
    const about = { modelVersion: `${model}-001`, responseId: `google-${number}` };
    if (planned.blockReason !== null) {
      const blocked = { ...usage, answer: 0, thoughts: 0 };
      truths.push(blocked);
      return { promptFeedback: { blockReason: planned.blockReason }, usageMetadata: usageJson(blocked), ...about };
    }
    truths.push(usage);
    for (const part of planned.parts) if ("thoughtSignature" in part) signatures.add(String(part["thoughtSignature"]));
    const content = planned.parts.length === 0 ? {} : { content: { role: "model", parts: planned.parts } };
    return {
      candidates: [{ ...content, finishReason: planned.finishReason, index: 0 }],
      usageMetadata: usageJson(usage),
      ...about,
    };
  }

  function reply(response: ServerResponse, request: FakeRequest, number: number): void {
    const { body, path } = request;
    const [, model, method] = PATH.exec(path) ?? [];
    if (model === undefined) return fail(response, { code: 404, status: "NOT_FOUND", message: `${path} is not found` });
    const message = refusalOf(body, { isOurs: (signature) => signatures.has(signature), thinks });
    if (message !== null) return fail(response, { code: 400, status: "INVALID_ARGUMENT", message });
    const answer = script?.(request, number) ?? answerTo(body, { thinks, number });
    const { onUsage, ...planned }: ReturnType<Script<FakeAnswer, TrueUsage>> = answer;
    if (planned.refusal !== null) return fail(response, planned.refusal);
    const whole = answerOf(body, planned, { model, number });
    const usage = truths.at(-1);
    const report = (): void => void (usage !== undefined && onUsage?.(usage));
    if (method !== "generateContent")
      return void stream(response, whole, planned).then((end) => end === "ended" && report());
    response.writeHead(200, { "content-type": "application/json; charset=UTF-8" });
    if (planned.broken === "cut") return void response.write("{", () => response.destroy());
    report();
    response.end(JSON.stringify(whole, null, 2));
  }

  const server = await startFakeServer("/v1beta", reply);
  return Object.assign(server, { truths });
}

function fail(response: ServerResponse, error: NonNullable<FakeAnswer["refusal"]>): void {
  response.writeHead(error.code, { "content-type": "application/json; charset=UTF-8" }).end(JSON.stringify({ error }));
}

const OVERLOADED = { error: { code: 503, message: "Overloaded", status: "UNAVAILABLE" } };

function stream(
  response: ServerResponse,
  whole: Json,
  { broken, pieceSize, pause }: ReturnType<Script<FakeAnswer, TrueUsage>>,
) {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const pieces = piecesOf(whole, pieceSize);
  const kept = broken === null ? pieces : broken === "error" ? [] : pieces.slice(0, -1);
  const isCut = broken === "cut";
  const sent = broken === null || isCut ? kept : [...kept, OVERLOADED];
  return writeStream(response, { pieces: sent.map(sseOf), last: 1, isCut, pause });
}

/** Counts of zero are left out. */
function usageJson({ input, cached, answer, thoughts }: TrueUsage): Json {
  const counts = {
    promptTokenCount: input,
    cachedContentTokenCount: cached,
    candidatesTokenCount: answer,
    thoughtsTokenCount: thoughts,
    totalTokenCount: input + answer + thoughts,
  };
  return {
    ...Object.fromEntries(Object.entries(counts).filter(([, tokens]) => tokens > 0)),
    promptTokensDetails: [{ modality: "TEXT", tokenCount: input }],
  };
}
