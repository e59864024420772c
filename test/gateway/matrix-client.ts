// What the clients of the matrix have in common: what is asked, how it is sent without a transport, and what an answer means.

import type { ChatOutcome } from "../../src/gateway/chat.ts";
import { answerConversation } from "../../src/gateway/conversation/answer-conversation.ts";
import type { AnswerEvent, AnswerUsage } from "../../src/gateway/conversation/answer-events.ts";
import type { ClientProtocol } from "../../src/gateway/conversation/protocol.ts";
import { RpcOutput } from "../../src/gateway/conversation/rpc-output.ts";
import type { AnswerReader } from "../../src/gateway/formats/shown-format.ts";
import { RpcSink } from "../../src/gateway/rpc-sink.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import type { Json } from "./fakes/anthropic-wire.ts";
import { type Bench, KEY, RATE } from "./support.ts";

/** What is asked of a model, in no protocol's words. */
export type Asked = {
  readonly model: string;
  readonly said: string;
  readonly stream: boolean;
  readonly system?: string;
  readonly tools?: readonly string[];
  readonly thinks?: boolean;
  readonly cap?: number;
  /** The base64 of a PNG, before the text. */
  readonly picture?: string;
  /** What the answer has to match. */
  readonly schema?: Json;
};

/** What a client was given. `parts`: the data of each event, or the whole answer. */
export type Given = {
  readonly parts: readonly Json[];
  readonly outcome: ChatOutcome | null;
  /** The error before an answer, or at the end of a broken one. */
  readonly error: unknown;
};

/** What an answer means to its client. */
export type Shown = {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly { readonly name: string; readonly input: unknown }[];
  readonly finish: string | null;
  readonly usage: AnswerUsage | null;
};

export type MatrixClient = {
  readonly name: "chat" | "messages" | "responses" | "gemini";
  readonly bodyOf: (asked: Asked) => Json;
  /** The next request: the answer, and a result for each of its calls, in reverse order. */
  readonly goOn: (body: Json, answer: Json, resultOf: (call: number) => string) => Json;
  readonly send: (bench: Bench, body: Json, asked: Pick<Asked, "model" | "stream">) => Promise<Given>;
  readonly shown: (given: Given) => Shown;
};

/** Of each tool. */
export const SCHEMA = { type: "object", properties: { at: { type: "number" } } };
export const listOf = (value: unknown): Json[] => (Array.isArray(value) ? (value as Json[]) : []);

export async function sendChat({ gateway }: Bench, body: Json, { stream }: Pick<Asked, "stream">): Promise<Given> {
  const sink = new RpcSink(AbortSignal.any([]));
  const work = gateway.answerChat(callOf(body), sink);
  if (!stream) return givenBy(work, () => sink.wholeAnswer());
  sink.follow(work);
  return streamed(work, sink.chunks());
}

export function sendIn(protocolOf: (asked: Pick<Asked, "model" | "stream">) => ClientProtocol): MatrixClient["send"] {
  return ({ gateway }, body, asked) => {
    const output = new RpcOutput(AbortSignal.any([]));
    const keys = { takeSlot: () => Promise.resolve(RATE) };
    const work = answerConversation({ gateway, keys, protocol: protocolOf(asked) }, callOf(body), output);
    if (asked.stream) return streamed(work, output.eventsOf(work) as AsyncGenerator<Json>);
    return givenBy(work, () => output.wholeAnswer as Json | null);
  };
}

function callOf(body: Json) {
  return { requestId: uuidv7(), receivedAtMs: Date.now(), key: KEY, body: Buffer.from(JSON.stringify(body)) };
}

async function givenBy(work: Promise<ChatOutcome>, answerOf: () => Json | null): Promise<Given> {
  try {
    const outcome = await work;
    const answer = answerOf();
    return { parts: answer === null ? [] : [answer], outcome, error: null };
  } catch (error) {
    return { parts: [], outcome: null, error };
  }
}

async function streamed(work: Promise<ChatOutcome>, pieces: AsyncGenerator<Json>): Promise<Given> {
  const parts: Json[] = [];
  const outcome = work.catch(() => null);
  try {
    for await (const piece of pieces) parts.push(piece);
    return { parts, outcome: await outcome, error: errorIn(parts.at(-1)) };
  } catch (error) {
    return { parts, outcome: await outcome, error };
  }
}

/** The error that ends a stream in its protocol's own event. */
function errorIn(last: Json | undefined): unknown {
  return last?.["error"] ?? (last?.["response"] as Json | undefined)?.["error"] ?? null;
}

export function shownBy(open: () => AnswerReader): MatrixClient["shown"] {
  return ({ parts, error }) => {
    const reader = open();
    const events = parts.flatMap((part) => reader.read(part));
    return shownIn(error === null ? [...events, ...reader.end()] : events);
  };
}

function shownIn(events: readonly AnswerEvent[]): Shown {
  const textOf = (kind: "text" | "reasoning"): string =>
    events.map((event) => (event.kind === kind ? event.text : "")).join("");
  const calls = events.filter((event) => event.kind === "call");
  const inputOf = (call: number): string =>
    events.map((event) => (event.kind === "input" && event.call === call ? event.text : "")).join("");
  return {
    text: textOf("text"),
    reasoning: textOf("reasoning"),
    calls: calls.map(({ call, name }) => ({ name, input: JSON.parse(inputOf(call) || "null") as unknown })),
    finish: events.find((event) => event.kind === "finish")?.reason ?? null,
    usage: events.find((event) => event.kind === "usage")?.usage ?? null,
  };
}
