// How the fake of Gemini answers: words with an exclamation mark in the last text of the user order something else than an echo.

import type { Json } from "./gemini-wire.ts";

export type FakeAnswer = {
  readonly parts: readonly Json[];
  readonly finishReason: string;
  /** Why the prompt is refused, so that nothing answers it. */
  readonly blockReason: string | null;
  readonly answerTokens: number;
  readonly thoughtTokens: number;
  /** Characters in a piece of a stream. */
  readonly pieceSize: number;
  /** How a stream ends too early: by breaking off, or by an error, before or behind output. */
  readonly broken: "cut" | "error" | "error_late" | null;
  /** An error status in place of an answer. */
  readonly refusal: {
    readonly code: number;
    readonly status: string;
    readonly message: string;
    readonly details?: readonly Json[];
  } | null;
};

const WORD = " word";
const TOKENS_OF_A_THOUGHT = 23;

type Facts = { readonly thinks: boolean; readonly number: number };

export function answerTo(body: Json, { thinks, number }: Facts): FakeAnswer {
  const said = lastText(body);
  const isOrdered = (word: string): boolean => said.includes(`!${word}`);
  const config = (body["generationConfig"] ?? {}) as Json;
  const cap = Number(config["maxOutputTokens"] ?? 100_000);
  const wanted = Number(/!tokens=(\d+)/.exec(said)?.[1] ?? 0);
  const words = wanted > 0 ? WORD.repeat(Math.min(wanted, cap)) : said;
  const isShown = (config["thinkingConfig"] as Json | undefined)?.["includeThoughts"] === true;
  const thoughts = thinks && isOrdered("think") && isShown ? [{ text: "Two steps. é\u{1F642}", thought: true }] : [];
  const calls = callsFor(body, { isOrdered, thinks, number });
  const texts: Json[] = calls.length > 0 || isOrdered("refuse") ? [] : [{ text: words }];
  const thoughtTokens = thinks && isOrdered("think") ? TOKENS_OF_A_THOUGHT : 0;
  return {
    parts: [...thoughts, ...texts, ...calls],
    finishReason: isOrdered("refuse") ? "SAFETY" : wanted > cap ? "MAX_TOKENS" : "STOP",
    blockReason: isOrdered("block") ? "PROHIBITED_CONTENT" : null,
    answerTokens: wanted > 0 ? Math.min(wanted, cap) : Math.ceil(JSON.stringify([...texts, ...calls]).length / 4),
    thoughtTokens,
    pieceSize: WORD.length,
    broken: isOrdered("cut") ? "cut" : isOrdered("error!late") ? "error_late" : isOrdered("error") ? "error" : null,
    refusal: refusalIn(said),
  };
}

type Orders = Facts & { readonly isOrdered: (word: string) => boolean };

/** One call of each tool, or of the first alone. A model that thinks signs the first. */
function callsFor(body: Json, { isOrdered, thinks, number }: Orders): Json[] {
  if (!isOrdered("call")) return [];
  const tools = ((body["tools"] ?? []) as Json[]).flatMap((tool) => (tool["functionDeclarations"] ?? []) as Json[]);
  return (isOrdered("callall") ? tools : tools.slice(0, 1)).map(({ name }, at) => ({
    functionCall: { name, args: at === 2 ? {} : { at, text: "é\u{1F642}" } },
    ...(thinks && at === 0 ? { thoughtSignature: `U2lnbmF0dXJl${number}+/==` } : {}),
  }));
}

/** The last text of the user; behind results of tools, the last of those. */
function lastText({ contents }: Json): string {
  const parts = ((contents as Json[]).at(-1)?.["parts"] ?? []) as Json[];
  const { text, functionResponse: result } = parts.at(-1) ?? {};
  if (typeof text === "string") return text;
  const { output, error } = ((result as Json | undefined)?.["response"] ?? {}) as Json;
  const said = output ?? error;
  return typeof said === "string" ? said : "";
}

const RETRY = { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "7s" };

function refusalIn(said: string): FakeAnswer["refusal"] {
  if (said.includes("!429")) {
    return { code: 429, status: "RESOURCE_EXHAUSTED", message: "You exceeded your current quota.", details: [RETRY] };
  }
  if (said.includes("!503")) return { code: 503, status: "UNAVAILABLE", message: "The model is overloaded." };
  if (said.includes("!key")) {
    const details = [{ reason: "API_KEY_INVALID", domain: "googleapis.com" }];
    return {
      code: 400,
      status: "INVALID_ARGUMENT",
      message: "API key not valid. Please pass a valid API key.",
      details,
    };
  }
  if (said.includes("!long")) {
    const message = "The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).";
    return { code: 400, status: "INVALID_ARGUMENT", message };
  }
  return null;
}
