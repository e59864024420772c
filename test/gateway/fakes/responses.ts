// An upstream of our own that speaks OpenAI's Responses over HTTP. The text of the last turn of the user decides how it answers; it
// refuses what OpenAI refuses, keeps each request, and knows what it would charge.

import type { ServerResponse } from "node:http";
import { answerTo, type FakeAnswer } from "./responses-answers.ts";
import { type FakeRequest, type Script, startFakeServer, writeStream } from "./fake-server.ts";
import { refusalOf } from "./responses-check.ts";
import { eventsOf, type Json, sseOf } from "./responses-wire.ts";

/** The usage of a call: what its bill must agree with. */
export type TrueUsage = {
  readonly input: number;
  readonly cached: number;
  readonly written: number;
  readonly output: number;
  readonly reasoning: number;
};

export type FakeResponses = Awaited<ReturnType<typeof startFakeResponses>>;

/**
 * `thinks`: models give out encrypted reasoning. `writesCache`: what is not cached is written to the cache. `script` decides in place
 * of the words in the prompt.
 */
export type FakeOptions = {
  readonly thinks?: boolean;
  readonly writesCache?: boolean;
  readonly script?: Script<FakeAnswer, TrueUsage>;
};

const TOKENS_OF_AN_ITEM = 11;
/** Those behind the deltas of the last text: the ends of the text, its part, its item and the response. */
const EVENTS_BEHIND_TEXT = 4;

export async function startFakeResponses({ thinks = true, writesCache = false, script }: FakeOptions = {}) {
  const truths: TrueUsage[] = [];
  const seen = new Set<string>();
  /** What was encrypted here. Another account of the same provider has another. */
  const given = new Set<string>();

  /** Items are read from the cache as far as the beginning of the input was seen before. */
  function inputOf({ input, instructions, tools }: Json): Pick<TrueUsage, "input" | "cached" | "written"> {
    const head = JSON.stringify([instructions, tools]);
    const items = Array.isArray(input) ? (input as Json[]) : [{ content: input }];
    let [tokens, cached, prefix] = [0, 0, head];
    for (const item of items) {
      const text = JSON.stringify(item);
      prefix += text;
      tokens += TOKENS_OF_AN_ITEM + Math.ceil(text.length / 8);
      if (seen.has(prefix)) cached = tokens;
      seen.add(prefix);
    }
    return { input: tokens, cached, written: writesCache ? tokens - cached : 0 };
  }

  function responseTo(body: Json, answer: FakeAnswer, { usage, number }: { usage: TrueUsage; number: number }): Json {
    truths.push(usage);
    const output = answer.items.map((item, at) => ({ id: `${String(item["type"])}_${number}_${at}`, ...item }));
    for (const item of output) if ("encrypted_content" in item) given.add(String(item["encrypted_content"]));
    return {
      id: `resp_${number}`,
      object: "response",
      created_at: 1_790_000_000,
      model: `${String(body["model"])}-2026-01-01`,
      status: answer.incomplete === null ? "completed" : "incomplete",
      error: null,
      incomplete_details: answer.incomplete === null ? null : { reason: answer.incomplete },
      output,
      parallel_tool_calls: body["parallel_tool_calls"] ?? true,
      service_tier: "default",
      store: false,
      tools: body["tools"] ?? [],
      usage: usageJson(usage),
    };
  }

  function reply(response: ServerResponse, request: FakeRequest, number: number): void {
    const { body } = request;
    const refusal = refusalOf(body, { isOurs: (encrypted) => given.has(encrypted), thinks });
    if (refusal !== null) return refuse(response, 400, { type: "invalid_request_error", param: null, ...refusal });
    const answer = script?.(request, number) ?? answerTo(body, { thinks, number });
    const { onUsage, pause, ...planned }: ReturnType<Script<FakeAnswer, TrueUsage>> = answer;
    if (planned.refusal !== null) {
      const { status, retryAfter, ...error } = planned.refusal;
      if (retryAfter !== null) response.setHeader("retry-after", retryAfter);
      return refuse(response, status, error);
    }
    const usage = { ...inputOf(body), output: planned.outputTokens, reasoning: planned.reasoningTokens };
    const whole = responseTo(body, planned, { usage, number });
    const report = (): void => onUsage?.(usage);
    if (body["stream"] !== true) {
      response.writeHead(200, { "content-type": "application/json" });
      if (planned.isCut) return void response.write("{", () => response.destroy());
      report();
      return void response.end(JSON.stringify(whole));
    }
    response.writeHead(200, { "content-type": "text/event-stream", "x-request-id": `req_${number}` });
    const pieces = streamOf(whole, planned).map(sseOf);
    const written = { pieces, last: EVENTS_BEHIND_TEXT, isCut: planned.isCut, pause };
    void writeStream(response, written).then((end) => end === "ended" && report());
  }

  const server = await startFakeServer("/v1", reply);
  return Object.assign(server, { truths });
}

function refuse(response: ServerResponse, status: number, error: Json): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify({ error }));
}

/** A stream that breaks off has no end; one that fails has another one. */
function streamOf(whole: Json, { isCut, failure }: FakeAnswer): Json[] {
  const events = eventsOf(whole);
  if (isCut) return events.slice(0, Math.max(5, events.length - EVENTS_BEHIND_TEXT));
  if (failure === null) return events;
  const before = events.slice(0, failure.after === "nothing" ? 2 : -1);
  if (failure.kind === "error") {
    return [
      ...before,
      { type: "error", code: failure.code, message: "It failed.", param: null, sequence_number: before.length },
    ];
  }
  const error = { code: failure.code, message: "It failed." };
  const failed = { ...whole, status: "failed", error, usage: null };
  return [...before, { type: "response.failed", response: failed, sequence_number: before.length }];
}

function usageJson({ input, cached, written, output, reasoning }: TrueUsage): Json {
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached, cache_write_tokens: written },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + output,
  };
}
