// The requests of clients, and the upstream's behaviour for each. A request carries its script in a field that passes
// through, so the upstream needs no memory, and the shadow auditor knows the cost of an answer beforehand.

import { setTimeout as sleep } from "node:timers/promises";
import { chunk, completion, type Script, usageChunk } from "../gateway/scripted-upstream.ts";

/**
 * The upstream's behaviours, with the frequency of each, the possible bases of a bill, and the most calls: a second one
 * only where the first has certainly cost nothing.
 */
export const BEHAVIOURS = {
  answer: { weight: 55, completes: true, exact: true, calls: 1 },
  slow: { weight: 10, completes: true, exact: true, calls: 1 },
  "busy once": { weight: 6, completes: true, exact: true, calls: 2 },
  "usage twice": { weight: 3, completes: true, exact: true, calls: 1 },
  "no usage": { weight: 5, completes: true, exact: false, calls: 1 },
  "absurd usage": { weight: 4, completes: true, exact: false, calls: 1 },
  fails: { weight: 4, completes: false, exact: false, calls: 2 },
  resets: { weight: 3, completes: false, exact: false, calls: 1 },
  "breaks off": { weight: 4, completes: false, exact: false, calls: 1 },
  "ends early": { weight: 3, completes: false, exact: false, calls: 1 },
  "error event": { weight: 2, completes: false, exact: false, calls: 1 },
  html: { weight: 1, completes: false, exact: false, calls: 2 },
} as const satisfies Record<string, { weight: number; completes: boolean; exact: boolean; calls: 1 | 2 }>;

export type Behaviour = keyof typeof BEHAVIOURS;

/** An answer of two sizes: one that is held for at once, and a stream for which more has to be held while it runs. */
const SHORT = { maxTokens: 100, pieces: 8, wordsOfPiece: 2, pieceMs: 5, slowMs: 40 };
const LONG = { maxTokens: 16_000, pieces: 80, wordsOfPiece: 100, pieceMs: 25, slowMs: 40 };
/** The part of the streams that are long, and the fewest pieces of one: enough for a second hold, whatever breaks halfway. */
const LONG_SHARE = 0.08;
const LEAST_LONG_PIECES = 50;
/** What a stream holds for its output at first, and at most beyond what it has recorded of its progress. */
const SLAB_TOKENS = 4_096;
/** Pieces that may be on their way beside that, in tokens. */
const ON_THE_WAY = 2 * LONG.wordsOfPiece;

/** One request as its client intends it. */
export type Ask = {
  readonly id: string;
  readonly behaviour: Behaviour;
  readonly stream: boolean;
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly completionTokens: number;
  readonly size: "short" | "long";
  /** Pieces of a stream. */
  readonly pieces: number;
  /** Null: the client stays. Otherwise it leaves after so many ms, or after so many pieces of a stream. */
  readonly leaves: { readonly afterMs: number } | { readonly afterPieces: number } | null;
};

const TOTAL_WEIGHT = Object.values(BEHAVIOURS).reduce((sum, { weight }) => sum + weight, 0);
// Long enough for the input tokens to be possible. A word is a token at least.
const QUESTION = "A question that is long enough for a hundred tokens of input to be possible. ".repeat(3);
const INPUT_WORDS = QUESTION.trim().split(" ").length;
/** How every piece of a stream begins, as it lies in its chunk. */
const PIECE_MARK = '"content":"piece ';
/** The count of a text by samples may be so many hundredths too low. */
const ESTIMATE_PERCENT = 95n;
// 5, 15 and 0.95 thousandths of a rupiah for a token.
const [INPUT_PRICE, OUTPUT_PRICE, CACHED_PRICE] = [5_000n, 15_000n, 950n];

/** Draws a request. */
export function drawAsk(id: string, random: () => number): Ask {
  const whole = (low: number, high: number): number => low + Math.floor(random() * (high - low + 1));
  let left = random() * TOTAL_WEIGHT;
  const names = Object.keys(BEHAVIOURS) as Behaviour[];
  const behaviour = names.find((name) => (left -= BEHAVIOURS[name].weight) < 0) ?? "answer";
  const stream = random() < 0.5;
  const promptTokens = whole(1, 100);
  const size = stream && random() < LONG_SHARE ? "long" : "short";
  const pieces = size === "long" ? whole(LEAST_LONG_PIECES, LONG.pieces) : SHORT.pieces;
  const chance = random();
  return {
    id,
    behaviour,
    stream,
    promptTokens,
    cachedTokens: whole(0, promptTokens),
    completionTokens: size === "long" ? pieces * LONG.wordsOfPiece : whole(1, SHORT.maxTokens),
    size,
    pieces,
    leaves:
      chance < 0.03 ? { afterMs: whole(0, 30) } : chance < 0.1 && stream ? { afterPieces: whole(1, pieces / 2) } : null,
  };
}

/** The body of a request. */
export function bodyOf(ask: Ask, model: string): string {
  return JSON.stringify({
    model,
    max_tokens: sizeOf(ask).maxTokens,
    messages: [{ role: "user", content: QUESTION }],
    ...(ask.stream ? { stream: true, stream_options: { include_usage: true } } : {}),
    soak: ask,
  });
}

/** Micro-rupiah that an honest upstream reports for this request; price and rounding are implemented here again. */
export function exactCost({ promptTokens, cachedTokens, completionTokens }: Ask): bigint {
  const micro = BigInt(promptTokens - cachedTokens) * INPUT_PRICE + BigInt(completionTokens) * OUTPUT_PRICE;
  return micro + BigInt(cachedTokens) * CACHED_PRICE;
}

/**
 * Micro-rupiah that no request can reach, whatever the upstream reports: every byte a token, and every token of the
 * bound.
 */
export function highestCost(ask: Ask): bigint {
  return BigInt(bodyOf(ask, "acme/large").length + 64) * INPUT_PRICE + BigInt(sizeOf(ask).maxTokens + 1) * OUTPUT_PRICE;
}

/**
 * Micro-rupiah below which nothing can be charged by an estimate, or by usage that is cut to what is possible: the input at its
 * cheapest, and each word of the pieces that the client has seen.
 */
export function lowestCost(ask: Ask, seenPieces: number): bigint {
  const words = BigInt(seenPieces * sizeOf(ask).wordsOfPiece);
  return BigInt(INPUT_WORDS) * CACHED_PRICE + (words * ESTIMATE_PERCENT * OUTPUT_PRICE) / 100n;
}

/**
 * The same where a process died. Each extension records the relayed part at its request, with half a slab left, and
 * holds one more slab: so everything beyond one and a half slabs was recorded.
 */
export function lowestRecovered(ask: Ask, seenPieces: number): bigint {
  const beyond = seenPieces * sizeOf(ask).wordsOfPiece - (3 * SLAB_TOKENS) / 2 - ON_THE_WAY;
  return beyond <= 0 ? 0n : (BigInt(beyond) * ESTIMATE_PERCENT * OUTPUT_PRICE) / 100n;
}

/** Whether so much can only be charged where more was held than at first. */
export function isBeyondFirstSlab(charge: bigint): boolean {
  return charge > BigInt(SLAB_TOKENS) * OUTPUT_PRICE + BigInt(SHORT.maxTokens) * INPUT_PRICE;
}

/** How many pieces of a stream are in what a client received. */
export function piecesIn(text: string): number {
  return text.split(PIECE_MARK).length - 1;
}

function sizeOf({ size }: Ask): typeof SHORT {
  return size === "long" ? LONG : SHORT;
}

/** The upstream's side. `onCall` receives every request, with its number of calls so far. */
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
    const { wordsOfPiece, ...size } = sizeOf(ask);
    const pieceMs = ask.behaviour === "slow" ? size.slowMs : size.pieceMs;
    if (!ask.stream) {
      await sleep(pieceMs);
      return answerWhole();
    }
    response.writeHead(200, { ...headers, "content-type": "text/event-stream" });
    const say = (data: string) => response.write(`data: ${data}\n\n`);
    for (let piece = 0; piece < ask.pieces && !gone(); piece += 1) {
      say(chunk({ content: `piece ${piece}${" word".repeat(wordsOfPiece - 2)} ` }));
      await sleep(pieceMs);
      if (piece !== Math.floor(ask.pieces / 2)) continue;
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
