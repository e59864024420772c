// What the contract of upstreams needs to know of each wire: how a request is written, and what an answer looks like.

import { expect } from "vitest";
import { dataOf, splitEvents } from "../../src/gateway/stream/sse.ts";

export type UpstreamWireTest = {
  /** The members of a request with one text of the user. */
  readonly bodyOf: (said: string) => object;
  /** The body with all members that a test has chosen. Absent: those members. */
  readonly sent?: (members: Readonly<Record<string, unknown>>) => object;
  /** What asks for the usage of a stream, where it has to be asked for. */
  readonly wantsUsage: object;
  /** The member with the bound on the output. Absent: the upstream's own name for it. */
  readonly capField?: string;
  readonly answerWith: (text: string) => object;
  readonly cappedAt: (tokens: number) => object;
  readonly lastEvent: RegExp;
  readonly usageMember: string;
  /** The text of a stream. */
  readonly textOf: (events: string) => string;
};

/** The chat completions of OpenAI. */
export const CHAT_WIRE: UpstreamWireTest = {
  bodyOf: (said) => ({ messages: [{ role: "user", content: said }] }),
  wantsUsage: { stream_options: { include_usage: true } },
  answerWith: (text) => ({
    object: "chat.completion",
    choices: [{ message: { content: text }, finish_reason: "stop" }],
    usage: { completion_tokens: expect.any(Number) as unknown },
  }),
  cappedAt: (tokens) => ({ choices: [{ finish_reason: "length" }], usage: { completion_tokens: tokens } }),
  lastEvent: /data: \[DONE\]$/,
  usageMember: '"prompt_tokens"',
  textOf: (events) => deltasIn(events, (data) => (data["choices"] as Chunks | undefined)?.[0]?.delta?.content),
};

/** OpenAI's Responses. */
export const RESPONSES_WIRE: UpstreamWireTest = {
  bodyOf: (said) => ({ input: [{ role: "user", content: said }], store: false, max_output_tokens: 100_000 }),
  wantsUsage: {},
  capField: "max_output_tokens",
  answerWith: (text) => ({
    object: "response",
    status: "completed",
    output: [{ type: "message", content: [{ text }] }],
    usage: { output_tokens: expect.any(Number) as unknown },
  }),
  cappedAt: (tokens) => ({
    status: "incomplete",
    incomplete_details: { reason: "max_output_tokens" },
    usage: { output_tokens: tokens },
  }),
  lastEvent: /^event: response\.completed\n[^\n]*$/m,
  usageMember: '"input_tokens"',
  textOf: (events) => deltasIn(events, ({ type, delta }) => (type === "response.output_text.delta" ? delta : "")),
};

/** Anthropic's Messages. */
export const MESSAGES_WIRE: UpstreamWireTest = {
  bodyOf: (said) => ({ messages: [{ role: "user", content: said }], max_tokens: 100_000 }),
  wantsUsage: {},
  capField: "max_tokens",
  answerWith: (text) => ({
    type: "message",
    content: [{ type: "text", text }],
    stop_reason: "end_turn",
    usage: { output_tokens: expect.any(Number) as unknown },
  }),
  cappedAt: (tokens) => ({ stop_reason: "max_tokens", usage: { output_tokens: tokens } }),
  lastEvent: /^event: message_stop\n[^\n]*$/m,
  usageMember: '"input_tokens"',
  textOf: (events) => deltasIn(events, ({ delta }) => (delta as { readonly text?: unknown } | undefined)?.text),
};

/** Google's Gemini API. The model and the stream are in the path. */
export const GEMINI_WIRE: UpstreamWireTest = {
  bodyOf: (said) => ({ contents: [{ role: "user", parts: [{ text: said }] }] }),
  sent: ({ contents, maxOutputTokens = 100_000 }) => ({ contents, generationConfig: { maxOutputTokens } }),
  wantsUsage: {},
  capField: "maxOutputTokens",
  answerWith: (text) => ({
    candidates: [{ content: { parts: [{ text }] }, finishReason: "STOP" }],
    usageMetadata: { candidatesTokenCount: expect.any(Number) as unknown },
  }),
  cappedAt: (tokens) => ({
    candidates: [{ finishReason: "MAX_TOKENS" }],
    usageMetadata: { candidatesTokenCount: tokens },
  }),
  lastEvent: /"finishReason":"STOP"[^\n]*$/,
  usageMember: '"promptTokenCount"',
  textOf: (events) => deltasIn(events, ({ candidates }) => (candidates as Pieces)[0]?.content?.parts[0]?.text),
};

type Pieces = readonly { readonly content?: { readonly parts: readonly { readonly text?: unknown }[] } }[];

type Chunks = readonly { readonly delta?: { readonly content?: unknown } }[];

function deltasIn(events: string, textOf: (data: Record<string, unknown>) => unknown): string {
  return splitEvents(Buffer.from(events))
    .map((event) => dataOf(event) ?? "")
    .filter((data) => data.startsWith("{"))
    .map((data) => textOf(JSON.parse(data) as Record<string, unknown>))
    .filter((text) => typeof text === "string")
    .join("");
}
