// How the fake of a Responses upstream answers: words with an exclamation mark in the last text of the user order something else than
// an echo of that text.

import type { Json } from "./responses-wire.ts";

export type FakeAnswer = {
  readonly items: readonly Json[];
  readonly outputTokens: number;
  readonly reasoningTokens: number;
  readonly incomplete: "max_output_tokens" | "content_filter" | null;
  /** The connection breaks before the end. */
  readonly isCut: boolean;
  /** How a stream fails in place of its end. */
  readonly failure: {
    readonly kind: "failed" | "error";
    readonly code: string;
    readonly after: "nothing" | "output";
  } | null;
  /** An error status in place of an answer. */
  readonly refusal: ({ readonly status: number; readonly retryAfter: string | null } & Json) | null;
};

type Facts = { readonly thinks: boolean; readonly number: number };

const TOKENS_OF_A_THOUGHT = 23;

export function answerTo(body: Json, { thinks, number }: Facts): FakeAnswer {
  const said = lastText(body);
  const isOrdered = (word: string): boolean => said.includes(`!${word}`);
  const items: Json[] = [];
  const isThought = thinks && isOrdered("think");
  if (isThought) {
    const summary = ["**Plan**", "Two steps."].map((text) => ({ type: "summary_text", text }));
    items.push({ type: "reasoning", summary, encrypted_content: `gAAAAAB${number}_-=` });
  }
  if (isOrdered("refuse")) items.push(messageOf({ type: "refusal", refusal: "I cannot help with that." }));
  else items.push(...callsFor(body, isOrdered, number));
  const cap = Number(body["max_output_tokens"]);
  const wanted = Number(/!tokens=(\d+)/.exec(said)?.[1] ?? 0);
  const words = wanted > 0 ? Array.from({ length: Math.min(wanted, cap) }, () => " word").join("") : said;
  if (items.every(({ type }) => type === "reasoning"))
    items.push(messageOf({ type: "output_text", text: words, annotations: [] }));
  const reasoningTokens = isThought ? TOKENS_OF_A_THOUGHT : 0;
  const written = wanted > 0 ? Math.min(wanted, cap) : Math.ceil(JSON.stringify(items).length / 4);
  return {
    items,
    outputTokens: written + reasoningTokens,
    reasoningTokens,
    incomplete: isOrdered("filter") ? "content_filter" : wanted > cap ? "max_output_tokens" : null,
    isCut: isOrdered("cut"),
    failure: failureIn(said),
    refusal: refusalIn(said),
  };
}

function messageOf(part: Json): Json {
  return { type: "message", role: "assistant", status: "completed", content: [part] };
}

/** One call of each tool, or of the first alone. */
function callsFor(body: Json, isOrdered: (word: string) => boolean, number: number): Json[] {
  if (isOrdered("find")) {
    const search = {
      call_id: `ts_${number}`,
      execution: "client",
      arguments: { query: "a", limit: 1 },
      status: "completed",
    };
    return [{ type: "tool_search_call", ...search }];
  }
  if (!isOrdered("call")) return [];
  const tools = toolsIn(body)
    .filter(({ type }) => type !== "tool_search")
    .flatMap((tool) =>
      tool["type"] === "namespace"
        ? (tool["tools"] as Json[]).map((inner): Json => ({ ...inner, namespace: tool["name"] }))
        : [tool],
    );
  return (isOrdered("callall") ? tools : tools.slice(0, 1)).map((tool, at) => {
    const named = { name: tool["name"], ...("namespace" in tool ? { namespace: tool["namespace"] } : {}) };
    const call = { call_id: `call_${number}_${at}`, ...named, status: "completed" };
    if (tool["type"] === "custom") return { type: "custom_tool_call", ...call, input: '*** "Begin"\n+\u{1F642}\n' };
    return { type: "function_call", ...call, arguments: `{"at":${at},"text":"é\u{1F642}"}` };
  });
}

/** The tools of the body, and those within its input. */
function toolsIn({ tools = [], input }: Json): Json[] {
  const items = (Array.isArray(input) ? (input as Json[]) : []).filter(({ type }) => type === "additional_tools");
  return [...(tools as Json[]), ...items.flatMap((item) => item["tools"] as Json[])];
}

/** The text of the last message of the user; after results of tools, those. */
function lastText({ input }: Json): string {
  if (typeof input === "string") return input;
  const item = (input as Json[]).at(-1) ?? {};
  const content = item["output"] ?? item["content"];
  if (typeof content === "string") return content;
  return ((content ?? []) as Json[]).map(({ text }) => (typeof text === "string" ? text : "")).join(" ");
}

function failureIn(said: string): FakeAnswer["failure"] {
  const found = /!(failed|error)=(\w+)(!late)?/.exec(said);
  if (found === null) return null;
  return {
    kind: found[1] as "failed" | "error",
    code: found[2] ?? "",
    after: found[3] === undefined ? "nothing" : "output",
  };
}

function refusalIn(said: string): FakeAnswer["refusal"] {
  if (said.includes("!429quota")) {
    const message = "You exceeded your current quota, please check your plan.";
    return { status: 429, retryAfter: null, message, type: "insufficient_quota", code: "insufficient_quota" };
  }
  if (said.includes("!429")) {
    return {
      status: 429,
      retryAfter: "7",
      message: "Rate limit reached.",
      type: "requests",
      code: "rate_limit_exceeded",
    };
  }
  if (said.includes("!503")) {
    return {
      status: 503,
      retryAfter: null,
      message: "Overloaded.",
      type: "server_error",
      code: "server_is_overloaded",
    };
  }
  if (said.includes("!long")) {
    const message = "Your input exceeds the context window of this model. Please adjust your input and try again.";
    return { status: 400, retryAfter: null, message, type: "invalid_request_error", code: "context_length_exceeded" };
  }
  return null;
}
