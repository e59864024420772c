// An upstream of our own that speaks Anthropic's Messages over HTTP. The last text of the user decides how it answers; it refuses what
// Anthropic refuses, keeps each request, has a prompt cache, and knows what it would charge.

import type { ServerResponse } from "node:http";
import { type Accepts, LEAST_ACCEPTED } from "../../../src/catalog/catalog-model.ts";
import { answerTo, type FakeAnswer } from "./anthropic-answers.ts";
import { type FakeRequest, type Script, startFakeServer, writeStream } from "./fake-server.ts";
import { refusalOf } from "./anthropic-check.ts";
import { eventsOf, type Json, sseOf, textIn } from "./anthropic-wire.ts";

/** The usage of a call, in counts that do not overlap: what its bill must agree with. */
export type TrueUsage = {
  readonly input: number;
  readonly read: number;
  readonly written5m: number;
  readonly written1h: number;
  readonly output: number;
  readonly thinking: number;
};

export type FakeAnthropic = Awaited<ReturnType<typeof startFakeAnthropic>>;

/** Anthropic's own prompt where there are tools. */
const TOKENS_FOR_TOOLS = 346;

/** `script` decides in place of the words in the prompt. */
export async function startFakeAnthropic(accepts: Partial<Accepts> = {}, script?: Script<FakeAnswer, TrueUsage>) {
  const truths: TrueUsage[] = [];
  const cache = new Set<string>();
  const signatures = new Set<string>();

  /** A prompt is read from the cache up to the last mark whose beginning is there, and written up to the last mark. */
  function inputOf(body: Json): Omit<TrueUsage, "output" | "thinking"> {
    let [tokens, read, prefix] = [0, 0, String(body["model"])];
    const written = { "5m": 0, "1h": 0 };
    let marked = 0;
    for (const { cache_control: mark, ...segment } of segmentsOf(body)) {
      const text = JSON.stringify(segment);
      prefix += text;
      tokens += Math.ceil(text.length / 8);
      if (mark === undefined) continue;
      if (cache.has(prefix)) {
        read = tokens;
        [written["5m"], written["1h"]] = [0, 0];
      } else written[(mark as Json)["ttl"] === "1h" ? "1h" : "5m"] += tokens - marked;
      cache.add(prefix);
      marked = tokens;
    }
    const own = body["tools"] === undefined ? 0 : TOKENS_FOR_TOOLS;
    return { input: tokens - marked + own, read, written5m: written["5m"], written1h: written["1h"] };
  }

  function messageOf(body: Json, answer: FakeAnswer, { usage, number }: { usage: TrueUsage; number: number }): Json {
    truths.push(usage);
    for (const block of answer.content) if ("signature" in block) signatures.add(textIn(block, "signature"));
    return {
      id: `msg_${number}`,
      type: "message",
      role: "assistant",
      model: `${String(body["model"])}-20260101`,
      content: answer.content,
      stop_reason: answer.stopReason,
      stop_sequence: null,
      usage: usageJson(usage),
    };
  }

  function reply(response: ServerResponse, request: FakeRequest, number: number): void {
    const { body, headers } = request;
    response.setHeader("request-id", `req_${number}`);
    if (headers["anthropic-version"] === undefined) {
      return fail(response, {
        status: 400,
        type: "invalid_request_error",
        message: "anthropic-version: header is required",
      });
    }
    const message = refusalOf(body, {
      accepts: { ...LEAST_ACCEPTED, ...accepts },
      isOurs: (signature) => signatures.has(signature),
      isWithBetas: String(headers["anthropic-beta"]).includes("claude-code-"),
    });
    if (message !== null) return fail(response, { status: 400, type: "invalid_request_error", message });
    const answer = script?.(request, number) ?? answerTo(body, number);
    const { onUsage, ...planned }: ReturnType<Script<FakeAnswer, TrueUsage>> = answer;
    if (planned.refusal !== null) return fail(response, planned.refusal);
    const usage = { ...inputOf(body), output: planned.outputTokens, thinking: planned.thinkingTokens };
    const whole = messageOf(body, planned, { usage, number });
    const report = (): void => onUsage?.(usage);
    if (body["stream"] === true)
      return void stream(response, whole, planned).then((end) => end === "ended" && report());
    response.writeHead(200, { "content-type": "application/json" });
    if (planned.broken === "cut") return void response.write("{", () => response.destroy());
    report();
    response.end(JSON.stringify(whole));
  }

  const server = await startFakeServer("", reply);
  return Object.assign(server, { truths });
}

function fail(
  response: ServerResponse,
  { status, type, message, retryAfter }: NonNullable<FakeAnswer["refusal"]>,
): void {
  if (retryAfter !== undefined) response.setHeader("retry-after", retryAfter);
  response
    .writeHead(status, { "content-type": "application/json" })
    .end(JSON.stringify({ type: "error", error: { type, message }, request_id: "req_1" }));
}

const EVENTS_BEFORE_OUTPUT = 2;
/** Those behind the output: the end of its last block, and of the message. */
const EVENTS_BEHIND_OUTPUT = 3;
const OVERLOADED = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };

function stream(
  response: ServerResponse,
  whole: Json,
  { broken, pieceSize, pause }: ReturnType<Script<FakeAnswer, TrueUsage>>,
) {
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
  const events = eventsOf(whole, pieceSize);
  const kept =
    broken === null ? events.length : broken === "error" ? EVENTS_BEFORE_OUTPUT : events.length - EVENTS_BEHIND_OUTPUT;
  const isCut = broken === "cut";
  const sent = broken === null || isCut ? events.slice(0, kept) : [...events.slice(0, kept), OVERLOADED];
  return writeStream(response, { pieces: sent.map(sseOf), last: EVENTS_BEHIND_OUTPUT, isCut, pause });
}

/** The parts of a prompt in the order in which they are cached, each with its mark. */
function segmentsOf(body: Json): Json[] {
  const { system, messages } = body;
  const blocks = (content: unknown): Json[] =>
    typeof content === "string" ? [{ type: "text", text: content }] : ((content ?? []) as Json[]);
  return [
    ...((body["tools"] ?? []) as Json[]),
    ...blocks(system),
    ...(messages as Json[]).flatMap(({ role, content }) => blocks(content).map((block) => ({ role, ...block }))),
  ];
}

function usageJson({ input, read, written5m, written1h, output, thinking }: TrueUsage): Json {
  return {
    input_tokens: input,
    cache_creation_input_tokens: written5m + written1h,
    cache_read_input_tokens: read,
    cache_creation: { ephemeral_5m_input_tokens: written5m, ephemeral_1h_input_tokens: written1h },
    output_tokens: output,
    output_tokens_details: { thinking_tokens: thinking },
    service_tier: "standard",
  };
}
