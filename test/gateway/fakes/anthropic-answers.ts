// How the fake of Anthropic answers: words with an exclamation mark in the last text of the user order something else than an echo.

import { type Json, textIn } from "./anthropic-wire.ts";

export type FakeAnswer = {
  readonly content: readonly Json[];
  readonly stopReason: string;
  readonly outputTokens: number;
  readonly thinkingTokens: number;
  /** Characters in a piece of a stream. */
  readonly pieceSize: number;
  /** How a stream ends too early: by breaking off, or by an error event, before or behind output. */
  readonly broken: "cut" | "error" | "error_late" | null;
  /** An error status in place of an answer. */
  readonly refusal: {
    readonly status: number;
    readonly type: string;
    readonly message: string;
    readonly retryAfter?: string;
  } | null;
};

const WORD = " word";
const TOKENS_OF_A_THOUGHT = 23;

export function answerTo(body: Json, number: number): FakeAnswer {
  const said = lastText(body);
  const isOrdered = (word: string): boolean => said.includes(`!${word}`);
  const thinks = (body["thinking"] as Json | undefined)?.["type"];
  const isThought = thinks === "adaptive" || thinks === "enabled";
  const isHidden = (body["thinking"] as Json | undefined)?.["display"] === "omitted";
  const thoughts: Json[] = isThought
    ? [{ type: "thinking", thinking: isHidden ? "" : "Two steps. é\u{1F642}", signature: `EqQB${number}+/==` }]
    : [];
  if (isThought && isOrdered("redacted")) thoughts.push({ type: "redacted_thinking", data: `redacted${number}` });
  const calls = callsFor(body, isOrdered, number);
  const cap = Number(body["max_tokens"]);
  const wanted = Number(/!tokens=(\d+)/.exec(said)?.[1] ?? 0);
  const words = wanted > 0 ? WORD.repeat(Math.min(wanted, cap)) : said;
  const isRefused = isOrdered("refuse");
  const texts: Json[] = calls.length > 0 || isOrdered("refuse0") ? [] : [{ type: "text", text: words }];
  const content = isOrdered("refuse0") ? [] : [...thoughts, ...texts, ...calls];
  const written = wanted > 0 ? Math.min(wanted, cap) : Math.ceil(JSON.stringify([...texts, ...calls]).length / 4);
  const thinkingTokens = isThought ? TOKENS_OF_A_THOUGHT : 0;
  return {
    content,
    stopReason: isRefused ? "refusal" : wanted > cap ? "max_tokens" : calls.length > 0 ? "tool_use" : "end_turn",
    outputTokens: written + thinkingTokens,
    thinkingTokens,
    pieceSize: WORD.length,
    broken: isOrdered("cut") ? "cut" : isOrdered("error!late") ? "error_late" : isOrdered("error") ? "error" : null,
    refusal: refusalIn(said),
  };
}

/** One call of each tool, or of the first alone. */
function callsFor(body: Json, isOrdered: (word: string) => boolean, number: number): Json[] {
  const tools = (body["tools"] ?? []) as Json[];
  if (!isOrdered("call")) return [];
  return (isOrdered("callall") ? tools : tools.slice(0, 1)).map(({ name }, at) => ({
    type: "tool_use",
    id: `toolu_${number}_${at}`,
    name,
    input: at === 2 ? {} : { at, text: "é\u{1F642}" },
  }));
}

/** The last text of the last turn, that of a result included. */
function lastText({ messages }: Json): string {
  const content = (messages as Json[]).at(-1)?.["content"];
  if (typeof content === "string") return content;
  const texts = (content as Json[]).flatMap((block) => {
    const inner = block["content"];
    if (block["type"] === "text") return [String(block["text"])];
    return Array.isArray(inner) ? inner.map((each: Json) => textIn(each, "text")) : [textIn(block, "content")];
  });
  return texts.at(-1) ?? "";
}

function refusalIn(said: string): FakeAnswer["refusal"] {
  if (said.includes("!429")) {
    return {
      status: 429,
      type: "rate_limit_error",
      message: "This request would exceed your rate limit.",
      retryAfter: "7",
    };
  }
  if (said.includes("!503")) return { status: 503, type: "api_error", message: "Service unavailable" };
  if (said.includes("!529")) return { status: 529, type: "overloaded_error", message: "Overloaded" };
  if (said.includes("!long")) {
    return {
      status: 400,
      type: "invalid_request_error",
      message: "prompt is too long: 200001 tokens > 200000 maximum",
    };
  }
  if (said.includes("!credit")) {
    const message = "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing.";
    return { status: 400, type: "invalid_request_error", message };
  }
  return null;
}
