// Reads an answer of Google's Gemini API as events: the pieces of its stream, or the whole answer, which has the same form. They have our
// names by then, and the billed usage.

import { inputTokensOf, outputTokensOf } from "../../../billing/cost.ts";
import { readGeminiUsage } from "../../metering/gemini-usage.ts";
import { isObject, type JsonObject } from "../../request/field-rules.ts";
import type { AnswerEvent, AnswerUsage, FinishReason } from "../answer-events.ts";
import { plainCallId } from "../chat/call-ids.ts";

export class GeminiAnswerReader {
  readonly #origin: string;
  #calls = 0;
  #reason: unknown = null;
  #isBlocked = false;
  #usage: JsonObject | null = null;

  /** `origin`: the id of the upstream that answers. */
  constructor(origin: string) {
    this.#origin = origin;
  }

  /** The events of a piece, or of a whole answer. */
  read(answer: JsonObject): AnswerEvent[] {
    const { usageMetadata: usage, promptFeedback: feedback, responseId } = answer;
    if (isObject(usage)) this.#usage = usage;
    if (isObject(feedback) && isBlock(feedback["blockReason"])) this.#isBlocked = true;
    const [candidate] = candidatesOf(answer);
    if (candidate === undefined) return [];
    this.#reason = candidate["finishReason"] ?? this.#reason;
    return partsOf(candidate).flatMap((part) => this.#readPart(part, responseId));
  }

  /** The events behind the last piece: how the answer ended, and the billed usage. */
  end(): AnswerEvent[] {
    return [
      { kind: "finish", reason: finishReason(this.#isBlocked ? "SAFETY" : this.#reason, this.#calls > 0) },
      { kind: "usage", usage: usageOf(this.#usage) },
    ];
  }

  #readPart(part: JsonObject, responseId: unknown): AnswerEvent[] {
    const { text, thought, functionCall: call, thoughtSignature: signature } = part;
    const blob = typeof signature === "string" && signature !== "" ? signature : null;
    const opaque = blob === null ? null : { origin: this.#origin, blob };
    if (isObject(call)) return this.#readCall(call, responseId, opaque === null ? {} : { opaque });
    const events: AnswerEvent[] = [];
    if (typeof text === "string" && text !== "") events.push({ kind: thought === true ? "reasoning" : "text", text });
    if (opaque !== null) events.push({ kind: "opaque", ...opaque });
    return events;
  }

  /** Calls have no id at most models. One that is made is of this answer alone, so that no two turns of a conversation share it. */
  #readCall(
    { name, args }: JsonObject,
    responseId: unknown,
    more: Pick<Extract<AnswerEvent, { kind: "call" }>, "opaque">,
  ): AnswerEvent[] {
    const call = this.#calls++;
    const id = plainCallId(`call_${String(responseId)}_${call}`);
    const input = JSON.stringify(isObject(args) ? args : {});
    return [
      { kind: "call", call, id, name: typeof name === "string" ? name : "", ...more },
      { kind: "input", call, text: input },
    ];
  }
}

/** The answers in a piece. One alone is ever asked for. */
export function candidatesOf({ candidates }: JsonObject): readonly JsonObject[] {
  return Array.isArray(candidates) ? candidates.filter(isObject) : [];
}

/** The parts of an answer. */
export function partsOf({ content }: JsonObject): readonly JsonObject[] {
  const parts = isObject(content) ? content["parts"] : null;
  return Array.isArray(parts) ? parts.filter(isObject) : [];
}

/** Whether a prompt was refused, so that nothing answers it. */
export function isBlock(reason: unknown): boolean {
  return typeof reason === "string" && reason !== "" && reason !== "BLOCK_REASON_UNSPECIFIED";
}

const FILTERED = /^(?:SAFETY|RECITATION|LANGUAGE|BLOCKLIST|PROHIBITED_CONTENT|SPII|IMAGE_.*)$/;

function finishReason(reason: unknown, hasCalls: boolean): FinishReason {
  if (reason === "MAX_TOKENS") return "length";
  if (typeof reason === "string" && FILTERED.test(reason)) return "filtered";
  return hasCalls ? "calls" : "stop";
}

function usageOf(usage: JsonObject | null): AnswerUsage {
  const reading = readGeminiUsage(usage);
  const costIdr = usage?.["costIdr"];
  const counts = reading?.counts ?? { inputTokensUncached: 0, inputTokensCached: 0, outputTokens: 0 };
  return {
    input: inputTokensOf(counts),
    cached: counts.inputTokensCached,
    written: 0,
    written1h: 0,
    output: outputTokensOf(counts),
    reasoning: reading?.reasoningTokens ?? 0,
    costIdr: typeof costIdr === "string" ? costIdr : "0",
  };
}
