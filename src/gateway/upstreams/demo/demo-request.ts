// Reads the parts of a request that the demo upstream understands, and chooses its answer.

import { isObject, type JsonObject } from "../../request/field-rules.ts";
import { countDemoTokens, demoTokens } from "./demo-tokens.ts";
import { aboutResults, callsFor, type DemoCall } from "./demo-tools.ts";
import { instanceOf } from "./schema-instance.ts";

/** Tokens around each message, and for each picture. */
const TOKENS_PER_MESSAGE = 3;
const TOKENS_PER_MEDIA_PART = 85;
const MAX_SCRIPTED_TOKENS = 1_000_000;

/** Failures that a text in the last user message brings about. */
export type Trigger = "429" | "503" | "503x" | "500" | "slow" | "cut" | "nousage";

/** What the model writes, before `max_tokens` cuts it: its thoughts, and then a text or calls. */
export type DemoReply = {
  readonly thoughts: readonly string[];
  readonly text: readonly string[];
  readonly calls: readonly DemoCall[];
};

export type DemoRequest = {
  readonly messages: readonly string[];
  /** Tokens of each message, and of the tools. */
  readonly messageTokens: readonly number[];
  readonly toolTokens: number;
  readonly choices: number;
  readonly maxTokens: number;
  readonly includeUsage: boolean;
  readonly triggers: ReadonlySet<Trigger>;
  readonly reply: DemoReply;
};

/** Reads a body, null when it is no JSON the demo understands. */
export function readDemoRequest(model: string, body: Buffer): DemoRequest | null {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body.toString("utf8"));
  } catch {
    return null; // The gateway looks at structure only; inside its strings a body may still be no JSON.
  }
  if (!isObject(parsed) || !Array.isArray(parsed["messages"])) return null;
  const messages = parsed["messages"].filter(isObject);
  const asked = messages.findLastIndex((message) => message["role"] === "user");
  const prompt = textOf(messages[asked] ?? {});
  const tools = Array.isArray(parsed["tools"]) ? parsed["tools"].filter(isObject) : [];
  const isAnswered = messages.slice(asked + 1).some(({ role }) => role === "tool" || role === "function");
  const calls = callsFor(parsed, prompt, isAnswered);
  return {
    messages: messages.map((message) => JSON.stringify(message)),
    messageTokens: messages.map(tokensOf),
    toolTokens: tools.length === 0 ? 0 : countDemoTokens(JSON.stringify(tools)),
    choices: numberOf(parsed["n"], 1),
    maxTokens: Math.max(numberOf(parsed["max_completion_tokens"], 0), numberOf(parsed["max_tokens"], 0)) || Infinity,
    includeUsage: isObject(parsed["stream_options"]) && parsed["stream_options"]["include_usage"] === true,
    triggers: new Set(
      [...prompt.matchAll(/!(429|503x|503|500|slow|cut|nousage)\b/g)].map(([, name]) => name as Trigger),
    ),
    reply: {
      thoughts: thoughtsOn(model, prompt, parsed["reasoning_effort"]),
      text: calls.length > 0 ? [] : answerTo(model, prompt, parsed, aboutResults(messages, textOf)),
      calls,
    },
  };
}

/** How many sentences the model that thinks has for each effort; without one it thinks for a while. */
const SENTENCES: Readonly<Record<string, number>> = {
  none: 0,
  minimal: 1,
  low: 2,
  medium: 4,
  high: 8,
  xhigh: 16,
  max: 16,
};
const UNASKED_SENTENCES = 4;
const THINKING_MODEL = "thinking";

/** `!think` makes every model think. */
function thoughtsOn(model: string, prompt: string, effort: unknown): readonly string[] {
  const isAsked = /!think\b/.test(prompt);
  if (model !== THINKING_MODEL && !isAsked) return [];
  const wanted = (typeof effort === "string" ? SENTENCES[effort] : undefined) ?? UNASKED_SENTENCES;
  const count = isAsked ? Math.max(wanted, 1) : wanted;
  const sentences = Array.from(
    { length: count },
    (_, index) => `Thought ${index + 1} is about ${wordsIn(prompt)} words.`,
  );
  return demoTokens(sentences.join(" "));
}

/** `echo` repeats the last message; the other models answer a fixed text. `!tokens=N` asks for a length. */
function answerTo(model: string, prompt: string, body: JsonObject, results: string | null): readonly string[] {
  const scripted = /!tokens=(\d{1,7})\b/.exec(prompt)?.[1];
  if (scripted !== undefined)
    return Array.from({ length: Math.min(Number(scripted), MAX_SCRIPTED_TOKENS) }, () => " word");
  const text = results ?? plainAnswer(model, prompt);
  const format = body["response_format"];
  if (!isObject(format)) return demoTokens(text);
  if (format["type"] === "json_object") return demoTokens(JSON.stringify({ answer: text }));
  const schema = isObject(format["json_schema"]) ? format["json_schema"]["schema"] : null;
  return demoTokens(isObject(schema) ? JSON.stringify(instanceOf(schema)) : text);
}

function plainAnswer(model: string, prompt: string): string {
  if (model === "echo") return prompt === "" ? "(nothing was said)" : prompt;
  return (
    `This is the demo model ${model}. It read ${wordsIn(prompt)} words and understood none of them, but every token of ` +
    "this answer was counted, priced and billed like one of a real model."
  );
}

function wordsIn(text: string): number {
  return text.split(/\s+/).filter((word) => word !== "").length;
}

function textOf({ content }: JsonObject): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .filter(isObject)
    .map((part) => (typeof part["text"] === "string" ? part["text"] : ""))
    .join(" ");
}

function tokensOf(message: JsonObject): number {
  const parts = Array.isArray(message["content"]) ? message["content"].filter(isObject) : [];
  const media = parts.filter((part) => part["type"] !== "text").length;
  const calls = message["tool_calls"] === undefined ? "" : JSON.stringify(message["tool_calls"]);
  return TOKENS_PER_MESSAGE + TOKENS_PER_MEDIA_PART * media + countDemoTokens(textOf(message)) + countDemoTokens(calls);
}

function numberOf(value: unknown, otherwise: number): number {
  return typeof value === "number" ? value : otherwise;
}
