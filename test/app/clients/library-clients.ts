// The libraries that programs put between themselves and the vendors' protocols, behind the same calls as the vendors' packages.

import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { ChatAnthropic } from "@langchain/anthropic";
import {
  type AIMessage,
  type AIMessageChunk,
  HumanMessage,
  ToolMessage,
  type UsageMetadata,
} from "@langchain/core/messages";
import {
  APICallError,
  generateText,
  jsonSchema,
  type LanguageModel,
  type ModelMessage,
  streamText,
  tool,
  type ToolSet,
} from "ai";
import { MAX_TOKENS, type OpenClient, type Question, SCHEMA, TOOLS, type VendorClient } from "./vendor-clients.ts";

/** Each library with the provider that it speaks to. None of them counts tokens. */
export const LIBRARY_CLIENTS: readonly (readonly [name: string, open: OpenClient])[] = [
  ["ai, @ai-sdk/anthropic", openAiSdkAnthropic],
  ["ai, @ai-sdk/openai", openAiSdkOpenai],
  ["@langchain/anthropic", openLangChain],
];

type Settings = Pick<Parameters<typeof generateText>[0], "providerOptions">;
type AiModel = { readonly model: LanguageModel } & Settings;

function openAiSdkAnthropic(origin: string, apiKey: string): VendorClient {
  const provider = createAnthropic({ baseURL: `${origin}/v1`, apiKey });
  return aiSdk(({ model, thinks = false }) => ({
    model: provider(model),
    ...(thinks ? { providerOptions: { anthropic: { thinking: { type: "adaptive" } } } } : {}),
  }));
}

function openAiSdkOpenai(origin: string, apiKey: string): VendorClient {
  const provider = createOpenAI({ baseURL: `${origin}/v1`, apiKey });
  return aiSdk(({ model, thinks = false }) => ({
    model: provider(model),
    // It knows the models of OpenAI by their names. No answer is kept at Saldo, so none can be referred to.
    providerOptions: {
      openai: {
        store: false,
        ...(thinks ? { forceReasoning: true, reasoningEffort: "high", reasoningSummary: "auto" } : {}),
      },
    },
  }));
}

const AI_TOOLS: ToolSet = Object.fromEntries(
  TOOLS.map((name) => [name, tool({ inputSchema: jsonSchema<object>(SCHEMA) })]),
);

function aiSdk(modelOf: (question: Question) => AiModel): VendorClient {
  const settingsOf = (question: Question) => {
    return { ...modelOf(question), maxRetries: 0, maxOutputTokens: MAX_TOKENS };
  };
  const asked = ({ said }: Question): ModelMessage => ({ role: "user", content: said });
  type Usage = Awaited<ReturnType<typeof generateText>>["usage"];
  const tokensIn = ({ inputTokens = 0, outputTokens = 0 }: Usage) => [inputTokens, outputTokens] as const;
  return {
    async whole(question) {
      const answer = await generateText({ ...settingsOf(question), messages: [asked(question)] }).catch(withStatus);
      return { text: answer.text, thought: answer.reasoningText ?? "", tokens: tokensIn(answer.usage) };
    },
    async streamed(question) {
      const answer = { text: "", thought: "", tokens: [0, 0] as readonly [number, number] };
      for await (const part of streamText({ ...settingsOf(question), messages: [asked(question)], onError }).stream) {
        if (part.type === "error") return withStatus(part.error);
        if (part.type === "text-delta") answer.text += part.text;
        if (part.type === "reasoning-delta") answer.thought += part.text;
        if (part.type === "finish") answer.tokens = tokensIn(part.totalUsage);
      }
      return answer;
    },
    async *pieces(question, abortSignal) {
      yield* streamText({ ...settingsOf(question), messages: [asked(question)], abortSignal, onError }).textStream;
    },
    async withTools(question) {
      const settings = { ...settingsOf(question), tools: AI_TOOLS };
      const { toolCalls, responseMessages } = streamText({ ...settings, messages: [asked(question)], onError });
      const calls = await toolCalls;
      const results = calls.map(({ toolCallId, toolName }) => {
        const output = { type: "text" as const, value: `result of ${toolName}` };
        return { type: "tool-result" as const, toolCallId, toolName, output };
      });
      const messages = [
        asked(question),
        ...(await responseMessages),
        { role: "tool" as const, content: results.toReversed() },
      ];
      const answer = await generateText({ ...settings, messages });
      return {
        calls: calls.map(({ toolName: name, input }) => ({ name, input: input as unknown })),
        answer: { text: answer.text, thought: answer.reasoningText ?? "", tokens: tokensIn(answer.usage) },
      };
    },
  };
}

/** The library writes errors of a stream to the console where a program does not take them. */
const onError = (): void => undefined;

/** Fails with the error, with its status where those of the vendors' packages have it. */
function withStatus(error: unknown): never {
  if (!(error instanceof Error) || "status" in error) throw error;
  const { cause } = error as { readonly cause?: { readonly status?: number } };
  throw Object.assign(error, { status: APICallError.isInstance(error) ? error.statusCode : cause?.status });
}

function openLangChain(origin: string, apiKey: string): VendorClient {
  const open = ({ model, thinks = false }: Question) =>
    new ChatAnthropic({
      model,
      apiKey,
      anthropicApiUrl: origin,
      maxTokens: MAX_TOKENS,
      maxRetries: 0,
      ...(thinks ? { thinking: { type: "adaptive" as const } } : {}),
    });
  const read = ({ text, contentBlocks, ...message }: AIMessage | AIMessageChunk) => {
    const usage = message.usage_metadata as UsageMetadata | undefined;
    return {
      text,
      thought: contentBlocks.map((block) => (block.type === "reasoning" ? block.reasoning : "")).join(""),
      tokens: [usage?.input_tokens ?? 0, usage?.output_tokens ?? 0] as const,
    };
  };
  const joined = async (model: { stream: ChatAnthropic["stream"] }, messages: HumanMessage[]) => {
    const [first, ...others] = await Array.fromAsync(await model.stream(messages));
    if (first === undefined) throw new Error("The stream has no pieces.");
    return others.reduce((whole, piece) => whole.concat(piece), first);
  };
  return {
    readsEstimate: true,
    whole: async (question) =>
      read(
        await open(question)
          .invoke([new HumanMessage(question.said)])
          .catch(withStatus),
      ),
    streamed: async (question) =>
      read(await joined(open(question), [new HumanMessage(question.said)]).catch(withStatus)),
    async *pieces(question, signal) {
      for await (const piece of await open(question).stream([new HumanMessage(question.said)], { signal })) {
        yield piece.text;
      }
    },
    async withTools(question) {
      const tools = TOOLS.map((name) => ({ name, input_schema: SCHEMA }));
      const model = open(question).bindTools(tools);
      const first = new HumanMessage(question.said);
      const called = await joined(model, [first]);
      const calls = called.tool_calls ?? [];
      const results = calls.map(({ id = "", name }) => {
        return new ToolMessage({ tool_call_id: id, content: `result of ${name}` });
      });
      const answer = await model.invoke([first, called, ...results.toReversed()]);
      return { calls: calls.map(({ name, args }) => ({ name, input: args })), answer: read(answer) };
    },
  };
}
