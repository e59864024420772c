// Models behind upstreams that speak Anthropic's Messages, OpenAI's Responses and Google's Gemini API. They are the fakes of the
// gateway's tests, which refuse what the real ones refuse, and answer as the script wants.

import { type FakeAnthropic, startFakeAnthropic } from "../../gateway/fakes/anthropic.ts";
import { type FakeGemini, startFakeGemini } from "../../gateway/fakes/gemini.ts";
import { type FakeResponses, startFakeResponses } from "../../gateway/fakes/responses.ts";
import { type Asked, type Play, type Script, tokensOf } from "./script.ts";
import type { Tool } from "./tool-calls.ts";

/** The protocol that an agent and its upstream both speak. */
export type NativeKind = "anthropic" | "openai-responses" | "gemini";

/** The fakes, by their protocol. */
export type NativeModels = {
  readonly urls: Readonly<Record<NativeKind, string>>;
  close(): Promise<void>;
};

type Json = Readonly<Record<string, unknown>>;

const TOKENS_OF_A_THOUGHT = 23;
const PIECE_SIZE = 7;

/** Starts them on free ports. */
export async function startNativeModels(script: Script): Promise<NativeModels> {
  const claude = await startAnthropic(script);
  const gpt = await startResponses(script);
  const google = await startGemini(script);
  return {
    urls: { anthropic: claude.baseUrl, "openai-responses": gpt.baseUrl, gemini: google.baseUrl },
    async close() {
      await Promise.all([claude.stop(), gpt.stop(), google.stop()]);
    },
  };
}

function startAnthropic(script: Script): Promise<FakeAnthropic> {
  return startFakeAnthropic({ thinking: "adaptive" }, ({ body }, number) => {
    const { one, answer, isRefused, isCut, wait } = script.play(askedOfMessages(body));
    const { text, thought, calls = [] } = answer;
    const thinking = body["thinking"] as Json | undefined;
    const isThought = thought !== undefined && (thinking?.["type"] === "adaptive" || thinking?.["type"] === "enabled");
    const signature = `EqQB${number}+/==`;
    if (isThought) one.given = signature;
    const shown = thinking?.["display"] === "omitted" ? "" : thought;
    const content = [
      ...(isThought ? [{ type: "thinking", thinking: shown, signature }] : []),
      ...(text === "" ? [] : [{ type: "text", text }]),
      ...calls.map(({ name, input }, at) => ({ type: "tool_use", id: `toolu_${number}_${at}`, name, input })),
    ];
    const message = "prompt is too long: 200001 tokens > 200000 maximum";
    const thinkingTokens = isThought ? TOKENS_OF_A_THOUGHT : 0;
    return {
      content,
      stopReason: calls.length > 0 ? "tool_use" : "end_turn",
      outputTokens: tokensOf({ text, calls }) + thinkingTokens,
      thinkingTokens,
      pieceSize: PIECE_SIZE,
      broken: isCut ? "cut" : null,
      refusal: isRefused ? { status: 400, type: "invalid_request_error", message } : null,
      ...pauseOf(wait),
      onUsage({ input, read, written5m, written1h, output }) {
        one.truth = { input, cached: read, written: written5m, writtenLong: written1h, output };
      },
    };
  });
}

function startResponses(script: Script): Promise<FakeResponses> {
  return startFakeResponses({
    writesCache: true,
    script({ body }, number) {
      const { one, answer, isRefused, isCut, wait } = script.play(askedOfResponses(body));
      const { text, thought, calls = [] } = answer;
      const encrypted = `gAAAAAB${number}_-=`;
      if (thought !== undefined) one.given = encrypted;
      const summary = [{ type: "summary_text", text: thought }];
      const part = { type: "output_text", text, annotations: [] };
      const items = [
        ...(thought === undefined ? [] : [{ type: "reasoning", summary, encrypted_content: encrypted }]),
        ...(text === "" ? [] : [{ type: "message", role: "assistant", status: "completed", content: [part] }]),
        ...calls.map(({ name, input }, at) => ({
          type: "function_call",
          call_id: `call_${number}_${at}`,
          name,
          arguments: JSON.stringify(input),
          status: "completed",
        })),
      ];
      const message = "Your input exceeds the context window of this model. Please adjust your input and try again.";
      const refusal = { message, type: "invalid_request_error", code: "context_length_exceeded" };
      const reasoningTokens = thought === undefined ? 0 : TOKENS_OF_A_THOUGHT;
      return {
        items,
        outputTokens: tokensOf({ text, calls }) + reasoningTokens,
        reasoningTokens,
        incomplete: null,
        isCut,
        failure: null,
        refusal: isRefused ? { status: 400, retryAfter: null, ...refusal } : null,
        ...pauseOf(wait),
        onUsage({ input, cached, written, output }) {
          one.truth = { input: input - cached - written, cached, written, output };
        },
      };
    },
  });
}

function startGemini(script: Script): Promise<FakeGemini> {
  return startFakeGemini({
    script({ body, path }, number) {
      const { one, answer, isRefused, isCut, wait } = script.play(askedOfGemini(body, path));
      const { text, thought, calls = [] } = answer;
      const config = (body["generationConfig"] as Json | undefined)?.["thinkingConfig"] as Json | undefined;
      const isShown = thought !== undefined && config?.["includeThoughts"] === true;
      const thoughtSignature = `U2lnbmF0dXJl${number}+/==`;
      if (calls.length > 0) one.given = thoughtSignature;
      const parts = [
        ...(isShown ? [{ text: thought, thought: true }] : []),
        ...(text === "" ? [] : [{ text }]),
        ...calls.map(({ name, input }, at) => ({
          functionCall: { name, args: input },
          ...(at === 0 ? { thoughtSignature } : {}),
        })),
      ];
      const message = "The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).";
      return {
        parts,
        finishReason: "STOP",
        blockReason: null,
        answerTokens: tokensOf({ text, calls }),
        thoughtTokens: thought === undefined ? 0 : TOKENS_OF_A_THOUGHT,
        pieceSize: PIECE_SIZE,
        broken: isCut ? "cut" : null,
        refusal: isRefused ? { code: 400, status: "INVALID_ARGUMENT", message } : null,
        ...pauseOf(wait),
        onUsage({ input, cached, answer: said, thoughts }) {
          one.truth = { input: input - cached, cached, output: said + thoughts };
        },
      };
    },
  });
}

function pauseOf(wait: Play["wait"]): { readonly pause?: () => Promise<void> } {
  return wait === undefined ? {} : { pause: wait };
}

type Turns = { readonly model: unknown; readonly turns: readonly Json[]; readonly results: readonly unknown[] };

function askedOf({ model, turns, results }: Turns, tools: readonly Tool[]): Asked {
  return {
    model: String(model),
    turns: JSON.stringify(turns),
    lastTurn: JSON.stringify(turns.at(-1) ?? null),
    results: results.map((result) => JSON.stringify(result ?? null)),
    tools,
  };
}

function toolOf(name: unknown, parameters: unknown): Tool {
  return { function: { name: String(name), parameters: parameters as object } };
}

function listIn(value: unknown): Json[] {
  return Array.isArray(value) ? (value as Json[]) : [];
}

function askedOfMessages({ model, messages, tools }: Json): Asked {
  const turns = listIn(messages);
  const blocks = turns.flatMap(({ content }) => listIn(content));
  const results = blocks.filter(({ type }) => type === "tool_result").map(({ content }) => content);
  const offered = listIn(tools).map(({ name, input_schema: schema }) => toolOf(name, schema));
  return askedOf({ model, turns, results }, offered);
}

function askedOfResponses({ model, input, tools }: Json): Asked {
  const turns = typeof input === "string" ? [{ content: input }] : listIn(input);
  const results = turns.filter(({ type }) => String(type).endsWith("_output")).map(({ output }) => output);
  const functions = listIn(tools).filter(({ type }) => type === "function");
  return askedOf(
    { model, turns, results },
    functions.map(({ name, parameters }) => toolOf(name, parameters)),
  );
}

function askedOfGemini({ contents, tools }: Json, path: string): Asked {
  const turns = listIn(contents);
  const parts = turns.flatMap(({ parts: each }) => listIn(each));
  const results = parts.flatMap(({ functionResponse }) => functionResponse ?? []);
  const declared = listIn(tools).flatMap(({ functionDeclarations }) => listIn(functionDeclarations));
  const model = /\/models\/([^/:]+):/.exec(path)?.[1];
  return askedOf(
    { model, turns, results },
    declared.map(({ name, parametersJsonSchema, parameters }) => toolOf(name, parametersJsonSchema ?? parameters)),
  );
}
