// A client of each protocol, for the tests that let every protocol meet every kind of upstream.

import type { ChatOutcome } from "../../src/gateway/chat.ts";
import { answerConversation } from "../../src/gateway/conversation/answer-conversation.ts";
import type { AnswerEvent, AnswerUsage } from "../../src/gateway/conversation/answer-events.ts";
import { ChatAnswerReader } from "../../src/gateway/conversation/chat/read-chat-answer.ts";
import { geminiProtocol } from "../../src/gateway/conversation/gemini/gemini-protocol.ts";
import { MessagesAnswerReader } from "../../src/gateway/conversation/messages/read-messages-answer.ts";
import { messagesProtocol } from "../../src/gateway/conversation/messages/messages-protocol.ts";
import type { ClientProtocol } from "../../src/gateway/conversation/protocol.ts";
import { ResponsesAnswerReader } from "../../src/gateway/conversation/responses/read-responses-answer.ts";
import { responsesProtocol } from "../../src/gateway/conversation/responses/responses-protocol.ts";
import { RpcOutput } from "../../src/gateway/conversation/rpc-output.ts";
import type { AnswerReader } from "../../src/gateway/formats/shown-format.ts";
import { RpcSink } from "../../src/gateway/rpc-sink.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import type { Json } from "./fakes/anthropic-wire.ts";
import { type Bench, KEY, RATE } from "./support.ts";

/** What is asked of a model, in no protocol's words. */
export type Asked = {
  readonly model: string;
  readonly said: string;
  readonly stream: boolean;
  readonly system?: string;
  readonly tools?: readonly string[];
  readonly thinks?: boolean;
  readonly cap?: number;
};

/** What a client was given. `parts`: the data of each event, or the whole answer. */
export type Given = {
  readonly parts: readonly Json[];
  readonly outcome: ChatOutcome | null;
  /** The error before an answer, or at the end of a broken one. */
  readonly error: unknown;
};

/** What an answer means to its client. */
export type Shown = {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly { readonly name: string; readonly input: unknown }[];
  readonly finish: string | null;
  readonly usage: AnswerUsage | null;
};

export type MatrixClient = {
  readonly name: "chat" | "messages" | "responses" | "gemini";
  readonly bodyOf: (asked: Asked) => Json;
  /** The next request: the answer, and a result for each of its calls, in reverse order. */
  readonly goOn: (body: Json, answer: Json, resultOf: (call: number) => string) => Json;
  readonly send: (bench: Bench, body: Json, asked: Pick<Asked, "model" | "stream">) => Promise<Given>;
  readonly shown: (given: Given) => Shown;
};

const SCHEMA = { type: "object", properties: { at: { type: "number" } } };
const listOf = (value: unknown): Json[] => (Array.isArray(value) ? (value as Json[]) : []);

async function sendChat({ gateway }: Bench, body: Json, { stream }: Pick<Asked, "stream">): Promise<Given> {
  const sink = new RpcSink(AbortSignal.any([]));
  const work = gateway.answerChat(callOf(body), sink);
  if (!stream) return givenBy(work, () => sink.wholeAnswer());
  sink.follow(work);
  return streamed(work, sink.chunks());
}

function sendIn(protocolOf: (asked: Pick<Asked, "model" | "stream">) => ClientProtocol): MatrixClient["send"] {
  return ({ gateway }, body, asked) => {
    const output = new RpcOutput(AbortSignal.any([]));
    const keys = { takeSlot: () => Promise.resolve(RATE) };
    const work = answerConversation({ gateway, keys, protocol: protocolOf(asked) }, callOf(body), output);
    if (asked.stream) return streamed(work, output.eventsOf(work) as AsyncGenerator<Json>);
    return givenBy(work, () => output.wholeAnswer as Json | null);
  };
}

function callOf(body: Json) {
  return { requestId: uuidv7(), receivedAtMs: Date.now(), key: KEY, body: Buffer.from(JSON.stringify(body)) };
}

async function givenBy(work: Promise<ChatOutcome>, answerOf: () => Json | null): Promise<Given> {
  try {
    const outcome = await work;
    const answer = answerOf();
    return { parts: answer === null ? [] : [answer], outcome, error: null };
  } catch (error) {
    return { parts: [], outcome: null, error };
  }
}

async function streamed(work: Promise<ChatOutcome>, pieces: AsyncGenerator<Json>): Promise<Given> {
  const parts: Json[] = [];
  const outcome = work.catch(() => null);
  try {
    for await (const piece of pieces) parts.push(piece);
    return { parts, outcome: await outcome, error: errorIn(parts.at(-1)) };
  } catch (error) {
    return { parts, outcome: await outcome, error };
  }
}

/** The error that ends a stream in its protocol's own event. */
function errorIn(last: Json | undefined): unknown {
  return last?.["error"] ?? (last?.["response"] as Json | undefined)?.["error"] ?? null;
}

function shownBy(open: () => AnswerReader): MatrixClient["shown"] {
  return ({ parts, error }) => {
    const reader = open();
    const events = parts.flatMap((part) => reader.read(part));
    return shownIn(error === null ? [...events, ...reader.end()] : events);
  };
}

function shownIn(events: readonly AnswerEvent[]): Shown {
  const textOf = (kind: "text" | "reasoning"): string =>
    events.map((event) => (event.kind === kind ? event.text : "")).join("");
  const calls = events.filter((event) => event.kind === "call");
  const inputOf = (call: number): string =>
    events.map((event) => (event.kind === "input" && event.call === call ? event.text : "")).join("");
  return {
    text: textOf("text"),
    reasoning: textOf("reasoning"),
    calls: calls.map(({ call, name }) => ({ name, input: JSON.parse(inputOf(call) || "null") as unknown })),
    finish: events.find((event) => event.kind === "finish")?.reason ?? null,
    usage: events.find((event) => event.kind === "usage")?.usage ?? null,
  };
}

const chatClient: MatrixClient = {
  name: "chat",
  bodyOf: ({ model, said, stream, system, tools, thinks = false, cap = 4_096 }) => ({
    model,
    max_tokens: cap,
    messages: [...(system === undefined ? [] : [{ role: "system", content: system }]), { role: "user", content: said }],
    ...(tools === undefined
      ? {}
      : { tools: tools.map((name) => ({ type: "function", function: { name, parameters: SCHEMA } })) }),
    ...(thinks ? { reasoning_effort: "high" } : {}),
    ...(stream ? { stream, stream_options: { include_usage: true } } : {}),
  }),
  goOn(body, answer, resultOf) {
    const message = listOf(answer["choices"])[0]?.["message"] as Json;
    const results = listOf(message["tool_calls"]).map(({ id }, at) => {
      return { role: "tool", tool_call_id: id, content: resultOf(at) };
    });
    return { ...body, messages: [...listOf(body["messages"]), message, ...results.toReversed()] };
  },
  send: sendChat,
  shown: shownBy(() => new ChatAnswerReader()),
};

const messagesClient: MatrixClient = {
  name: "messages",
  bodyOf: ({ model, said, stream, system, tools, thinks = false, cap = 4_096 }) => ({
    model,
    max_tokens: cap,
    messages: [{ role: "user", content: said }],
    ...(system === undefined
      ? {}
      : { system: [{ type: "text", text: system, cache_control: { type: "ephemeral", ttl: "1h" } }] }),
    ...(tools === undefined ? {} : { tools: tools.map((name) => ({ name, input_schema: SCHEMA })) }),
    ...(thinks ? { thinking: { type: "adaptive" }, output_config: { effort: "high" } } : {}),
    stream,
  }),
  goOn(body, answer, resultOf) {
    const content = listOf(answer["content"]);
    const calls = content.filter(({ type }) => type === "tool_use");
    const results = calls.map(({ id }, at) => ({ type: "tool_result", tool_use_id: id, content: resultOf(at) }));
    const turns = [
      { role: "assistant", content },
      { role: "user", content: results.toReversed() },
    ];
    return { ...body, messages: [...listOf(body["messages"]), ...turns] };
  },
  send: sendIn(() => messagesProtocol),
  shown: shownBy(() => new MessagesAnswerReader("")),
};

const responsesClient: MatrixClient = {
  name: "responses",
  bodyOf: ({ model, said, stream, system, tools, thinks = false, cap = 4_096 }) => ({
    model,
    max_output_tokens: cap,
    input: [{ role: "user", content: [{ type: "input_text", text: said }] }],
    ...(system === undefined ? {} : { instructions: system }),
    ...(tools === undefined
      ? {}
      : { tools: tools.map((name) => ({ type: "function", name, parameters: SCHEMA, strict: false })) }),
    ...(thinks ? { reasoning: { effort: "high", summary: "auto" } } : {}),
    stream,
  }),
  goOn(body, answer, resultOf) {
    const output = listOf(answer["output"]);
    const calls = output.filter(({ type }) => type === "function_call");
    const results = calls.map(({ call_id }, at) => ({ type: "function_call_output", call_id, output: resultOf(at) }));
    return { ...body, input: [...listOf(body["input"]), ...output, ...results.toReversed()] };
  },
  send: sendIn(() => responsesProtocol),
  shown: shownBy(() => new ResponsesAnswerReader("")),
};

const geminiClient: MatrixClient = {
  name: "gemini",
  bodyOf: ({ said, system, tools, thinks = false, cap = 4_096 }) => ({
    contents: [{ role: "user", parts: [{ text: said }] }],
    ...(system === undefined ? {} : { systemInstruction: { parts: [{ text: system }] } }),
    ...(tools === undefined
      ? {}
      : { tools: [{ functionDeclarations: tools.map((name) => ({ name, parametersJsonSchema: SCHEMA })) }] }),
    generationConfig: {
      maxOutputTokens: cap,
      ...(thinks ? { thinkingConfig: { includeThoughts: true, thinkingLevel: "HIGH" } } : {}),
    },
  }),
  goOn(body, answer, resultOf) {
    const content = listOf(answer["candidates"])[0]?.["content"] as Json;
    const calls = callsIn(listOf(content["parts"]));
    const results = calls.map(({ id, name }, at) => {
      return { functionResponse: { id, name, response: { output: resultOf(at) } } };
    });
    const contents = [...listOf(body["contents"]), content, { role: "user", parts: results.toReversed() }];
    return { ...body, contents };
  },
  send: sendIn(geminiProtocol),
  shown({ parts }) {
    const candidates = parts.flatMap(({ candidates: each }) => listOf(each));
    const pieces = candidates.flatMap(({ content }) => listOf((content as Json | undefined)?.["parts"]));
    const textOf = (isThought: boolean): string =>
      pieces
        .map(({ text, thought }) => ((thought === true) === isThought ? ((text as string | undefined) ?? "") : ""))
        .join("");
    const calls = callsIn(pieces);
    const ended = candidates.find(({ finishReason }) => finishReason !== undefined)?.["finishReason"];
    const finishes: Json = { STOP: calls.length > 0 ? "calls" : "stop", MAX_TOKENS: "length", SAFETY: "filtered" };
    const usage = parts.at(-1)?.["usageMetadata"] as Json | undefined;
    return {
      text: textOf(false),
      reasoning: textOf(true),
      calls: calls.map(({ name, args }) => ({ name: String(name), input: args })),
      finish: typeof ended === "string" ? String(finishes[ended]) : null,
      usage: usage === undefined ? null : geminiUsage(usage),
    };
  },
};

function callsIn(parts: readonly Json[]): Json[] {
  return parts.map(({ functionCall }) => functionCall as Json | undefined).filter((call) => call !== undefined);
}

/** The protocol has no count of what was written to a cache. */
function geminiUsage(usage: Json): AnswerUsage {
  const count = (name: string): number => Number(usage[name] ?? 0);
  return {
    input: count("promptTokenCount"),
    cached: count("cachedContentTokenCount"),
    written: Number.NaN,
    written1h: Number.NaN,
    output: count("candidatesTokenCount") + count("thoughtsTokenCount"),
    reasoning: count("thoughtsTokenCount"),
    costIdr: String(usage["costIdr"]),
  };
}

export const MATRIX_CLIENTS: readonly MatrixClient[] = [chatClient, messagesClient, responsesClient, geminiClient];
