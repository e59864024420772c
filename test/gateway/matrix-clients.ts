// A client of each protocol, for the tests that let every protocol meet every kind of upstream.

import type { AnswerUsage } from "../../src/gateway/conversation/answer-events.ts";
import { ChatAnswerReader } from "../../src/gateway/conversation/chat/read-chat-answer.ts";
import { geminiProtocol } from "../../src/gateway/conversation/gemini/gemini-protocol.ts";
import { MessagesAnswerReader } from "../../src/gateway/conversation/messages/read-messages-answer.ts";
import { messagesProtocol } from "../../src/gateway/conversation/messages/messages-protocol.ts";
import { ResponsesAnswerReader } from "../../src/gateway/conversation/responses/read-responses-answer.ts";
import { responsesProtocol } from "../../src/gateway/conversation/responses/responses-protocol.ts";
import type { Json } from "./fakes/anthropic-wire.ts";
import { listOf, type MatrixClient, SCHEMA, sendChat, sendIn, shownBy } from "./matrix-client.ts";

const imageUrl = (picture: string) => [{ type: "image_url", image_url: { url: `data:image/png;base64,${picture}` } }];

const chatClient: MatrixClient = {
  name: "chat",
  bodyOf: ({ model, said, stream, system, tools, thinks = false, cap = 4_096, picture, schema }) => ({
    model,
    max_tokens: cap,
    messages: [
      ...(system === undefined ? [] : [{ role: "system", content: system }]),
      { role: "user", content: picture === undefined ? said : [...imageUrl(picture), { type: "text", text: said }] },
    ],
    ...(tools === undefined
      ? {}
      : { tools: tools.map((name) => ({ type: "function", function: { name, parameters: SCHEMA } })) }),
    ...(thinks ? { reasoning_effort: "high" } : {}),
    ...(schema === undefined ? {} : { response_format: { type: "json_schema", json_schema: { name: "a", schema } } }),
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

const imageBlock = (data: string) => ({ type: "image", source: { type: "base64", media_type: "image/png", data } });

const messagesClient: MatrixClient = {
  name: "messages",
  bodyOf: ({ model, said, stream, system, tools, thinks = false, cap = 4_096, picture, schema }) => ({
    model,
    max_tokens: cap,
    messages: [
      { role: "user", content: picture === undefined ? said : [imageBlock(picture), { type: "text", text: said }] },
    ],
    ...(system === undefined
      ? {}
      : { system: [{ type: "text", text: system, cache_control: { type: "ephemeral", ttl: "1h" } }] }),
    ...(tools === undefined ? {} : { tools: tools.map((name) => ({ name, input_schema: SCHEMA })) }),
    ...(thinks ? { thinking: { type: "adaptive" } } : {}),
    output_config: {
      ...(thinks ? { effort: "high" } : {}),
      ...(schema === undefined ? {} : { format: { type: "json_schema", schema } }),
    },
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

const inputImage = (picture?: string) =>
  picture === undefined ? [] : [{ type: "input_image", image_url: `data:image/png;base64,${picture}` }];

const responsesClient: MatrixClient = {
  name: "responses",
  bodyOf: ({ model, said, stream, system, tools, thinks = false, cap = 4_096, picture, schema }) => ({
    model,
    max_output_tokens: cap,
    input: [{ role: "user", content: [...inputImage(picture), { type: "input_text", text: said }] }],
    ...(system === undefined ? {} : { instructions: system }),
    ...(tools === undefined
      ? {}
      : { tools: tools.map((name) => ({ type: "function", name, parameters: SCHEMA, strict: false })) }),
    ...(thinks ? { reasoning: { effort: "high", summary: "auto" } } : {}),
    ...(schema === undefined ? {} : { text: { format: { type: "json_schema", name: "a", schema } } }),
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

const inlineData = (data?: string) => (data === undefined ? [] : [{ inlineData: { mimeType: "image/png", data } }]);

const geminiClient: MatrixClient = {
  name: "gemini",
  bodyOf: ({ said, system, tools, thinks = false, cap = 4_096, picture, schema }) => ({
    contents: [{ role: "user", parts: [...inlineData(picture), { text: said }] }],
    ...(system === undefined ? {} : { systemInstruction: { parts: [{ text: system }] } }),
    ...(tools === undefined
      ? {}
      : { tools: [{ functionDeclarations: tools.map((name) => ({ name, parametersJsonSchema: SCHEMA })) }] }),
    generationConfig: {
      maxOutputTokens: cap,
      ...(thinks ? { thinkingConfig: { includeThoughts: true, thinkingLevel: "HIGH" } } : {}),
      ...(schema === undefined ? {} : { responseMimeType: "application/json", responseJsonSchema: schema }),
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
