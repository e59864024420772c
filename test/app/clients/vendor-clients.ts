// The clients of three vendors, each behind the same few calls: what a test asks is the same, and the packages do the rest.

import Anthropic from "@anthropic-ai/sdk";
import { type Content, type FunctionCall, GoogleGenAI } from "@google/genai";
import OpenAI from "openai";

/** What is asked of a model. */
export type Question = { readonly model: string; readonly said: string; readonly thinks?: boolean };

/** What a package makes of an answer. */
export type VendorAnswer = {
  readonly text: string;
  readonly thought: string;
  /** The tokens of the prompt, cached ones included, and those of the answer. */
  readonly tokens: readonly [input: number, output: number];
};

/** A client with the address and the key. Errors are the package's own. */
export type VendorClient = {
  /** It reads the input of a stream at its start, where only an estimate is known, and not at its end. */
  readonly readsEstimate?: boolean;
  whole(question: Question): Promise<VendorAnswer>;
  streamed(question: Question): Promise<VendorAnswer>;
  /** The pieces of a stream's text; it ends early when its signal does. */
  pieces(question: Question, signal: AbortSignal): AsyncIterable<string>;
  /** Asks with two tools and sends a result for each call, the last call's first. */
  withTools(question: Question): Promise<{ readonly calls: readonly unknown[]; readonly answer: VendorAnswer }>;
};

/** A client that can count a prompt's tokens, too. */
type CountingClient = VendorClient & { counted(question: Question): Promise<number> };

export type OpenClient<C = VendorClient> = (origin: string, apiKey: string) => C;

export const TOOLS = ["sun", "rain"];
export const SCHEMA = { type: "object" as const, properties: { city: { type: "string" as const } } };
export const MAX_TOKENS = 256;

/** Each package with the protocol that it speaks. */
export const VENDOR_CLIENTS: readonly (readonly [name: string, open: OpenClient<CountingClient>])[] = [
  ["@anthropic-ai/sdk", openAnthropic],
  ["openai, Responses", openResponses],
  ["@google/genai", openGoogle],
];

/** The client of Anthropic, as the documentation sets it up. */
export function anthropicOf(origin: string, apiKey: string): Anthropic {
  return new Anthropic({ baseURL: origin, authToken: apiKey, apiKey: null, maxRetries: 0 });
}

function openAnthropic(origin: string, apiKey: string): CountingClient {
  const { messages } = anthropicOf(origin, apiKey);
  const tools = TOOLS.map((name) => ({ name, input_schema: SCHEMA }));
  const bodyOf = ({ model, said, thinks = false }: Question) => ({
    model,
    max_tokens: MAX_TOKENS,
    messages: [{ role: "user" as const, content: said }],
    ...(thinks ? { thinking: { type: "adaptive" as const } } : {}),
  });
  const read = ({ content, usage }: Anthropic.Message): VendorAnswer => ({
    text: content.map((block) => (block.type === "text" ? block.text : "")).join(""),
    thought: content.map((block) => (block.type === "thinking" ? block.thinking : "")).join(""),
    tokens: [usage.input_tokens + (usage.cache_read_input_tokens ?? 0), usage.output_tokens],
  });
  return {
    whole: async (question) => read(await messages.create(bodyOf(question))),
    streamed: async (question) => read(await messages.stream(bodyOf(question)).finalMessage()),
    async *pieces(question, signal) {
      for await (const event of await messages.create({ ...bodyOf(question), stream: true }, { signal })) {
        if (event.type === "content_block_delta" && event.delta.type === "text_delta") yield event.delta.text;
      }
    },
    async withTools(question) {
      const body = { ...bodyOf(question), tools };
      const { content } = await messages.stream(body).finalMessage();
      const calls = content.filter((block) => block.type === "tool_use");
      const results = calls.map(({ id, name }) => {
        return { type: "tool_result" as const, tool_use_id: id, content: `result of ${name}` };
      });
      const turns = [
        { role: "assistant" as const, content },
        { role: "user" as const, content: results.toReversed() },
      ];
      const answer = await messages.create({ ...body, messages: [...body.messages, ...turns] });
      return { calls: calls.map(({ name, input }) => ({ name, input })), answer: read(answer) };
    },
    async counted({ model, said }) {
      return (await messages.countTokens({ model, messages: [{ role: "user", content: said }] })).input_tokens;
    },
  };
}

function openResponses(origin: string, apiKey: string): CountingClient {
  const { responses } = new OpenAI({ baseURL: `${origin}/v1`, apiKey, maxRetries: 0 });
  const tools = TOOLS.map((name) => ({ type: "function" as const, name, parameters: SCHEMA, strict: false }));
  const bodyOf = ({ model, said, thinks = false }: Question) => ({
    model,
    max_output_tokens: MAX_TOKENS,
    input: [{ role: "user" as const, content: said }] as OpenAI.Responses.ResponseInputItem[],
    store: false,
    ...(thinks ? { reasoning: { effort: "high" as const, summary: "auto" as const } } : {}),
  });
  const read = (response: OpenAI.Responses.Response): VendorAnswer => {
    if (response.error !== null) throw new Error(response.error.message);
    const { output, usage } = response;
    const thoughts = output.flatMap((item) => (item.type === "reasoning" ? item.summary : []));
    return {
      text: response.output_text,
      thought: thoughts.map(({ text }) => text).join(""),
      tokens: [usage?.input_tokens ?? 0, usage?.output_tokens ?? 0],
    };
  };
  return {
    whole: async (question) => read(await responses.create(bodyOf(question))),
    streamed: async (question) => read(await responses.stream(bodyOf(question)).finalResponse()),
    async *pieces(question, signal) {
      for await (const event of await responses.create({ ...bodyOf(question), stream: true }, { signal })) {
        if (event.type === "response.output_text.delta") yield event.delta;
      }
    },
    async withTools(question) {
      const body = { ...bodyOf(question), tools };
      const { output } = await responses.stream(body).finalResponse();
      const calls = output.filter((item) => item.type === "function_call");
      const results = calls.map(({ call_id: callId, name }) => {
        return { type: "function_call_output" as const, call_id: callId, output: `result of ${name}` };
      });
      const items = [...body.input, ...(output as OpenAI.Responses.ResponseInputItem[]), ...results.toReversed()];
      const answer = await responses.create({ ...body, input: items });
      const made = calls.map(({ name, arguments: input }) => ({ name, input: JSON.parse(input) as unknown }));
      return { calls: made, answer: read(answer) };
    },
    async counted({ model, said }) {
      return (await responses.inputTokens.count({ model, input: said })).input_tokens;
    },
  };
}

function openGoogle(origin: string, apiKey: string): CountingClient {
  const { models } = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: origin } });
  const tools = [{ functionDeclarations: TOOLS.map((name) => ({ name, parametersJsonSchema: SCHEMA })) }];
  const bodyOf = ({ model, said, thinks = false }: Question) => ({
    model,
    contents: [{ role: "user", parts: [{ text: said }] }] as Content[],
    config: { maxOutputTokens: MAX_TOKENS, ...(thinks ? { thinkingConfig: { includeThoughts: true } } : {}) },
  });
  type Answer = Awaited<ReturnType<typeof models.generateContent>>;
  const read = (pieces: readonly Answer[]): VendorAnswer => {
    const parts = pieces.flatMap(({ candidates }) => candidates?.[0]?.content?.parts ?? []);
    const usage = pieces.at(-1)?.usageMetadata;
    const textOf = (isThought: boolean): string =>
      parts.map(({ text = "", thought = false }) => (thought === isThought ? text : "")).join("");
    const output = (usage?.candidatesTokenCount ?? 0) + (usage?.thoughtsTokenCount ?? 0);
    return { text: textOf(false), thought: textOf(true), tokens: [usage?.promptTokenCount ?? 0, output] };
  };
  return {
    whole: async (question) => read([await models.generateContent(bodyOf(question))]),
    streamed: async (question) => read(await Array.fromAsync(await models.generateContentStream(bodyOf(question)))),
    async *pieces(question, signal) {
      const { config, ...body } = bodyOf(question);
      for await (const piece of await models.generateContentStream({
        ...body,
        config: { ...config, abortSignal: signal },
      })) {
        if (piece.text !== undefined) yield piece.text;
      }
    },
    async withTools(question) {
      const { config, ...body } = bodyOf(question);
      const pieces = await Array.fromAsync(
        await models.generateContentStream({ ...body, config: { ...config, tools } }),
      );
      const parts = pieces.flatMap(({ candidates }) => candidates?.[0]?.content?.parts ?? []);
      const calls = parts.flatMap(({ functionCall }): FunctionCall[] =>
        functionCall === undefined ? [] : [functionCall],
      );
      const results = calls.map(({ id, name = "" }) => {
        const named = id === undefined ? { name } : { id, name };
        return { functionResponse: { ...named, response: { output: `result of ${name}` } } };
      });
      const turns = [
        { role: "model", parts },
        { role: "user", parts: results.toReversed() },
      ];
      const answer = await models.generateContent({
        ...body,
        contents: [...body.contents, ...turns],
        config: { ...config, tools },
      });
      return { calls: calls.map(({ name, args }) => ({ name, input: args })), answer: read([answer]) };
    },
    counted: async ({ model, said }) => (await models.countTokens({ model, contents: said })).totalTokens ?? 0,
  };
}
