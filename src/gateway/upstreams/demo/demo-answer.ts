// The JSON the demo upstream writes, in OpenAI's shapes.

import type { DemoRequest } from "./demo-request.ts";

export type DemoUsage = {
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly completionTokens: number;
};

export type DemoAnswer = {
  readonly id: string;
  readonly model: string;
  readonly created: number;
  readonly request: DemoRequest;
  readonly usage: DemoUsage;
  /** The tokens each choice writes, cut at `max_tokens`. */
  readonly tokens: readonly string[];
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

/** The chunks of a stream, in order: role, tokens of every choice, finish, usage. */
export function* chunkJsons(answer: DemoAnswer): Generator<string> {
  const { request, tokens, finishReason } = answer;
  const indexes = Array.from({ length: request.choices }, (_, index) => index);
  const chunk = (index: number, delta: object, finish: string | null): string =>
    JSON.stringify({
      ...envelope(answer, "chat.completion.chunk"),
      choices: [{ index, delta, logprobs: null, finish_reason: finish }],
      ...(request.includeUsage ? { usage: null } : {}),
    });
  for (const index of indexes) yield chunk(index, { role: "assistant", content: "" }, null);
  if (request.tool === null) {
    for (const content of tokens) for (const index of indexes) yield chunk(index, { content }, null);
  } else {
    const [call] = toolCalls(answer);
    const started = { index: 0, ...call, function: { ...call?.function, arguments: "" } };
    for (const index of indexes) yield chunk(index, { tool_calls: [started] }, null);
    for (const piece of tokens) {
      const delta = { tool_calls: [{ index: 0, function: { arguments: piece } }] };
      for (const index of indexes) yield chunk(index, delta, null);
    }
  }
  for (const index of indexes) yield chunk(index, {}, finishReason);
  if (request.includeUsage && !request.triggers.has("nousage")) {
    yield JSON.stringify({
      ...envelope(answer, "chat.completion.chunk"),
      choices: [],
      usage: usageJson(answer.usage),
    });
  }
}

function envelope({ id, created, model }: DemoAnswer, object: string): object {
  return { id, object, created, model, system_fingerprint: "saldo_demo" };
}

function whole(answer: DemoAnswer): object {
  if (answer.request.tool === null) return { content: answer.tokens.join("") };
  return { content: null, tool_calls: toolCalls(answer) };
}

function toolCalls({ id, request, tokens }: DemoAnswer) {
  if (request.tool === null) return [];
  const called = { name: request.tool.name, arguments: tokens.join("") };
  return [{ id: `call_${id.slice(-12)}`, type: "function", function: called }];
}

function usageJson({ promptTokens, cachedTokens, completionTokens }: DemoUsage): object {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: { cached_tokens: cachedTokens },
    completion_tokens_details: { reasoning_tokens: 0 },
  };
}
