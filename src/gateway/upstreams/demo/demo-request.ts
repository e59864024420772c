// Reads the parts of a request that the demo upstream understands, and chooses its answer.

import { isObject, type JsonObject } from "../../request/field-rules.ts";
import { countDemoTokens, demoTokens } from "./demo-tokens.ts";

/** Tokens around each message, and for each picture. */
const TOKENS_PER_MESSAGE = 3;
const TOKENS_PER_MEDIA_PART = 85;
const MAX_SCRIPTED_TOKENS = 1_000_000;

/** Failures that a text in the last user message brings about. */
export type Trigger = "429" | "503" | "503x" | "500" | "slow" | "cut" | "nousage";

export type DemoRequest = {
  readonly messages: readonly string[];
  /** Tokens of each message, and of the tools. */
  readonly messageTokens: readonly number[];
  readonly toolTokens: number;
  readonly choices: number;
  readonly maxTokens: number;
  readonly includeUsage: boolean;
  readonly triggers: ReadonlySet<Trigger>;
  /** The tool that is to be called, null for a text. */
  readonly tool: { readonly name: string; readonly arguments: string } | null;
  /** The tokens of the answer, before `max_tokens` cuts them. */
  readonly answer: readonly string[];
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
  const lastUser = messages.findLast((message) => message["role"] === "user");
  const prompt = lastUser === undefined ? "" : textOf(lastUser);
  const tools = Array.isArray(parsed["tools"]) ? parsed["tools"].filter(isObject) : [];
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
    tool: /!tool\b/.test(prompt) ? firstTool(tools) : null,
    answer: answerTo(model, prompt),
  };
}

/** `echo` repeats the last message; the other models answer a fixed text. `!tokens=N` asks for a length. */
function answerTo(model: string, prompt: string): readonly string[] {
  const scripted = /!tokens=(\d{1,7})\b/.exec(prompt)?.[1];
  if (scripted !== undefined)
    return Array.from({ length: Math.min(Number(scripted), MAX_SCRIPTED_TOKENS) }, () => " word");
  if (model === "echo") return demoTokens(prompt === "" ? "(nothing was said)" : prompt);
  const words = prompt.split(/\s+/).filter((word) => word !== "").length;
  return demoTokens(
    `This is the demo model ${model}. It read ${words} words and understood none of them, but every token of this ` +
      "answer was counted, priced and billed like one of a real model.",
  );
}

/** The first tool, called with something plausible for each of its required parameters. */
function firstTool(tools: readonly JsonObject[]): { name: string; arguments: string } | null {
  const called = tools[0]?.["function"];
  if (!isObject(called)) return null;
  const parameters = isObject(called["parameters"]) ? called["parameters"] : {};
  const properties = isObject(parameters["properties"]) ? parameters["properties"] : {};
  const required = Array.isArray(parameters["required"]) ? parameters["required"].map(String) : [];
  const values = required.map((name) => [name, exampleOf(properties[name])]);
  return { name: String(called["name"]), arguments: JSON.stringify(Object.fromEntries(values)) };
}

function exampleOf(schema: unknown): unknown {
  const type = isObject(schema) ? schema["type"] : undefined;
  if (isObject(schema) && Array.isArray(schema["enum"])) return schema["enum"][0];
  if (type === "number" || type === "integer") return 1;
  if (type === "boolean") return true;
  if (type === "array") return [];
  return type === "object" ? {} : "demo";
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
