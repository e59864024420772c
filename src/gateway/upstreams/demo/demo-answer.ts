// The JSON the demo upstream writes, in OpenAI's shapes.

import type { DemoRequest } from "./demo-request.ts";

export type DemoUsage = {
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly completionTokens: number;
  readonly reasoningTokens: number;
};

/** A call, and its arguments in the pieces that are streamed. */
export type WrittenCall = { readonly name: string; readonly pieces: readonly string[] };

export type DemoAnswer = {
  readonly id: string;
  readonly model: string;
  readonly created: number;
  readonly request: DemoRequest;
  readonly usage: DemoUsage;
  /** What each choice writes, cut at `max_tokens`. */
  readonly thoughts: readonly string[];
  readonly text: readonly string[];
  readonly calls: readonly WrittenCall[];
  readonly finishReason: "stop" | "length" | "tool_calls";
};

/** The whole answer as one JSON text. */
export function completionJson(answer: DemoAnswer): string {
  const { request, finishReason } = answer;
  return JSON.stringify({
    ...envelope(answer, "chat.completion"),
    choices: Array.from({ length: request.choices }, (_, index) => ({
      index,
      message: { role: "assistant", ...whole(answer), refusal: null },
      logprobs: null,
      finish_reason: finishReason,
    })),
    ...(request.triggers.has("nousage") ? {} : { usage: usageJson(answer.usage) }),
  });
}

/** How many chunks with output a stream has. */
export function outputChunks({ request, thoughts, text, calls }: DemoAnswer): number {
  const ofCalls = calls.reduce((chunks, { pieces }) => chunks + 1 + pieces.length, 0);
  return (thoughts.length + text.length + ofCalls) * request.choices;
}

/** The chunks of a stream, in order: role, thoughts, text or calls of every choice, finish, usage. */
export function* chunkJsons(answer: DemoAnswer): Generator<string> {
  const { request, finishReason } = answer;
  const indexes = Array.from({ length: request.choices }, (_, index) => index);
  const chunk = (index: number, delta: object, finish: string | null): string =>
    JSON.stringify({
      ...envelope(answer, "chat.completion.chunk"),
      choices: [{ index, delta, logprobs: null, finish_reason: finish }],
      ...(request.includeUsage ? { usage: null } : {}),
    });
  for (const index of indexes) yield chunk(index, { role: "assistant", content: "" }, null);
  for (const delta of deltas(answer)) for (const index of indexes) yield chunk(index, delta, null);
  for (const index of indexes) yield chunk(index, {}, finishReason);
  if (request.includeUsage && !request.triggers.has("nousage")) {
    yield JSON.stringify({
      ...envelope(answer, "chat.completion.chunk"),
      choices: [],
      usage: usageJson(answer.usage),
    });
  }
}

function* deltas(answer: DemoAnswer): Generator<object> {
  for (const thought of answer.thoughts) yield { reasoning_content: thought };
  for (const content of answer.text) yield { content };
  for (const [index, { name, pieces }] of answer.calls.entries()) {
    const begun = { id: callId(answer, index), type: "function", function: { name, arguments: "" } };
    yield { tool_calls: [{ index, ...begun }] };
    for (const piece of pieces) yield { tool_calls: [{ index, function: { arguments: piece } }] };
  }
}

function envelope({ id, created, model }: DemoAnswer, object: string): object {
  return { id, object, created, model, system_fingerprint: "saldo_demo" };
}

function whole(answer: DemoAnswer): object {
  const { thoughts, text, calls } = answer;
  const reasoning = thoughts.length === 0 ? {} : { reasoning_content: thoughts.join("") };
  if (calls.length === 0) return { content: text.join(""), ...reasoning };
  const called = calls.map(({ name, pieces }, index) => ({
    id: callId(answer, index),
    type: "function",
    function: { name, arguments: pieces.join("") },
  }));
  return { content: null, ...reasoning, tool_calls: called };
}

/** Ids differ within an answer; the first has that of the request alone. */
function callId({ id }: DemoAnswer, index: number): string {
  return `call_${id.slice(-12)}${index === 0 ? "" : `_${index}`}`;
}

function usageJson({ promptTokens, cachedTokens, completionTokens, reasoningTokens }: DemoUsage): object {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: { cached_tokens: cachedTokens },
    completion_tokens_details: { reasoning_tokens: reasoningTokens },
  };
}
