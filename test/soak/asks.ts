// What clients ask for and how the upstream behaves then. A request carries its script in a field that passes through, so the
// upstream needs no memory, and the shadow auditor knows beforehand what an answer must cost.

import { setTimeout as sleep } from "node:timers/promises";
import { chunk, completion, type Script, usageChunk } from "../gateway/scripted-upstream.ts";

/** How the upstream answers, with how often it is asked to, and what a bill for an answer may be based on. */
export const BEHAVIOURS = {
  answer: { weight: 55, completes: true, exact: true },
  slow: { weight: 10, completes: true, exact: true },
  "busy once": { weight: 6, completes: true, exact: true },
  "usage twice": { weight: 3, completes: true, exact: true },
  "no usage": { weight: 5, completes: true, exact: false },
  "absurd usage": { weight: 4, completes: true, exact: false },
  fails: { weight: 4, completes: false, exact: false },
  resets: { weight: 3, completes: false, exact: false },
  "breaks off": { weight: 4, completes: false, exact: false },
  "ends early": { weight: 3, completes: false, exact: false },
  "error event": { weight: 2, completes: false, exact: false },
  html: { weight: 1, completes: false, exact: false },
} as const satisfies Record<string, { weight: number; completes: boolean; exact: boolean }>;

export type Behaviour = keyof typeof BEHAVIOURS;

export const MAX_TOKENS = 100;
const PIECES = 8;
const PIECE_MS = 5;
const SLOW_FACTOR = 8;

/** One request as its client means it. */
export type Ask = {
  readonly id: string;
  readonly behaviour: Behaviour;
  readonly stream: boolean;
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly completionTokens: number;
  /** Null: the client stays. Otherwise it leaves after so many ms, or after so many pieces of a stream. */
  readonly leaves: { readonly afterMs: number } | { readonly afterPieces: number } | null;
};

const TOTAL_WEIGHT = Object.values(BEHAVIOURS).reduce((sum, { weight }) => sum + weight, 0);
// Long enough for the input tokens to be possible.
const QUESTION = "A question that is long enough for a hundred tokens of input to be possible. ".repeat(3);

/** Draws a request. */
export function drawAsk(id: string, random: () => number): Ask {
  const whole = (low: number, high: number): number => low + Math.floor(random() * (high - low + 1));
  let left = random() * TOTAL_WEIGHT;
  const names = Object.keys(BEHAVIOURS) as Behaviour[];
  const behaviour = names.find((name) => (left -= BEHAVIOURS[name].weight) < 0) ?? "answer";
  const stream = random() < 0.5;
  const promptTokens = whole(1, 100);
  const chance = random();
  return {
    id,
    behaviour,
    stream,
    promptTokens,
    cachedTokens: whole(0, promptTokens),
    completionTokens: whole(1, MAX_TOKENS),
    leaves: chance < 0.03 ? { afterMs: whole(0, 30) } : chance < 0.1 && stream ? { afterPieces: whole(1, 4) } : null,
  };
}

/** The body of a request. */
export function bodyOf(ask: Ask, model: string): string {
  return JSON.stringify({
    model,
    max_tokens: MAX_TOKENS,
    messages: [{ role: "user", content: QUESTION }],
    ...(ask.stream ? { stream: true, stream_options: { include_usage: true } } : {}),
    soak: ask,
  });
}

/** Micro-rupiah of what an upstream that tells the truth reports for this request; price and rounding are written anew here. */
export function exactCost({ promptTokens, cachedTokens, completionTokens }: Ask): bigint {
  // 5, 15 and 0.95 thousandths of a rupiah for a token.
  const micro = BigInt(promptTokens - cachedTokens) * 5_000n + BigInt(completionTokens) * 15_000n;
  return micro + BigInt(cachedTokens) * 950n;
}

/** Micro-rupiah that no request can come to, whatever the upstream says: every byte a token, and every token of the bound. */
export function highestCost(ask: Ask): bigint {
  return BigInt(bodyOf(ask, "acme/large").length + 64) * 5_000n + BigInt(MAX_TOKENS + 1) * 15_000n;
}

/** The upstream's side. `onCall` hears of every request, with how often it has come. */
export function upstreamScript(onCall: (id: string) => number): Script {
  return async (response, { body }) => {
    const { soak: ask } = JSON.parse(body.toString()) as { soak: Ask };
    const call = onCall(ask.id);
    const headers = { "x-request-id": ask.id };
    const gone = (): boolean => response.destroyed;
    const refuse = (status: number) =>
      void response.writeHead(status, { ...headers, "content-type": "application/json" }).end('{"error":{}}');
    if (ask.behaviour === "busy once" && call === 1) return refuse(503);
    if (ask.behaviour === "fails") return refuse(500);
    if (ask.behaviour === "resets") return void response.destroy();
    if (ask.behaviour === "html") {
      return void response.writeHead(200, { ...headers, "content-type": "text/html" }).end("<html>Busy</html>");
    }
    const pieceMs = ask.behaviour === "slow" ? PIECE_MS * SLOW_FACTOR : PIECE_MS;
    if (!ask.stream) {
      await sleep(pieceMs);
      return answerWhole();
    }
    response.writeHead(200, { ...headers, "content-type": "text/event-stream" });
    const say = (data: string) => response.write(`data: ${data}\n\n`);
    for (let piece = 0; piece < PIECES && !gone(); piece += 1) {
      say(chunk({ content: `piece ${piece} ` }));
      await sleep(pieceMs);
      if (piece !== PIECES / 2) continue;
      if (ask.behaviour === "breaks off") return void response.destroy();
      if (ask.behaviour === "ends early") return void response.end();
      if (ask.behaviour === "error event") return void response.end('data: {"error":{"message":"Overloaded"}}\n\n');
    }
    say(chunk({}, "stop"));
    const usage = usageOf(ask);
    if (usage !== undefined) say(usageChunk(usage));
    if (ask.behaviour === "usage twice") say(usageChunk(usage));
    say("[DONE]");
    return void response.end();

    function answerWhole(): void {
      const text = completion({ usage: usageOf(ask) });
      const isCut = ask.behaviour === "breaks off" || ask.behaviour === "ends early" || ask.behaviour === "error event";
      response.writeHead(200, { ...headers, "content-type": "application/json", "content-length": text.length });
      if (!isCut) return void response.end(text);
      response.write(text.slice(0, text.length / 2), () => response.destroy());
    }
  };
}

function usageOf({ behaviour, promptTokens, cachedTokens, completionTokens }: Ask): object | undefined {
  if (behaviour === "no usage") return undefined;
  if (behaviour === "absurd usage") {
    return {
      prompt_tokens: 1e9,
      completion_tokens: 1e12,
      total_tokens: 7,
      prompt_tokens_details: { cached_tokens: 2e9 },
    };
  }
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: { cached_tokens: cachedTokens },
  };
}
