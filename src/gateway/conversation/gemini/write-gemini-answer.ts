// Writes an answer in Google's Gemini protocol. A call is one part there, so its input waits until it is whole; what a model thinks
// is shown to clients that ask for it.

import { type DomainError, UpstreamBusy } from "../../../kernel/errors.ts";
import { parseObject } from "../../request/parse-object.ts";
import type { AnswerEvent, AnswerUsage, FinishReason } from "../answer-events.ts";
import type { Opaque } from "../conversation.ts";
import type { AnswerFacts, AnswerWriter, ProtocolEvent } from "../protocol.ts";
import { geminiStreamError } from "./error-body.ts";
import { UNSIGNED_CALL, writeSignature } from "./opaque-signature.ts";

/** The input of calls that waits for their end. More than this is written by no model within its bound. */
const MAX_WAITING_CHARACTERS = 4 * 1_024 * 1_024;

const FINISH_REASONS = {
  stop: "STOP",
  calls: "STOP",
  length: "MAX_TOKENS",
  filtered: "SAFETY",
} as const satisfies Record<FinishReason, string>;

type WaitingCall = { readonly id: string; readonly name: string; readonly signature: string | null; input: string };

/** What the answer shows of its request. */
export type GeminiAnswerFacts = { readonly model: string; readonly showsThoughts: boolean };

export class GeminiAnswerWriter implements AnswerWriter {
  readonly keepAlive = null;
  readonly #requestId: string;
  readonly #facts: GeminiAnswerFacts;
  readonly #calls = new Map<number, WaitingCall>();
  #waitingCharacters = 0;
  /** That of thoughts which no call has carried yet. */
  #thought: Opaque | null = null;
  #finish: FinishReason | null = null;
  #usage: AnswerUsage | null = null;

  constructor({ requestId }: AnswerFacts, facts: GeminiAnswerFacts) {
    this.#requestId = requestId;
    this.#facts = facts;
  }

  /** The protocol has no event for a beginning. */
  begin(): ProtocolEvent[] {
    return [];
  }

  write(event: AnswerEvent): ProtocolEvent[] {
    const part = this.#read(event);
    return part === null ? [] : [{ name: null, data: this.#chunk({ content: content([part]), index: 0 }) }];
  }

  /** Without its finish an answer is not complete, and must not look so. */
  end(): ProtocolEvent[] {
    if (this.#finish === null || this.#waitsForTooMuch) return this.fail(new UpstreamBusy());
    const calls = this.#callParts();
    return [{ name: null, data: this.#ended(calls.length === 0 ? [{ text: "" }] : calls, this.#finish) }];
  }

  fail(error: DomainError): ProtocolEvent[] {
    return [{ name: null, data: geminiStreamError(error) }];
  }

  whole(events: readonly AnswerEvent[]): object {
    const parts: Shown[] = [];
    for (const event of events) {
      const part = this.#read(event);
      const last = parts.at(-1);
      if (part === null) continue;
      if (last !== undefined && last.thought === part.thought) last.text += part.text;
      else parts.push({ ...part });
    }
    if (this.#finish === null || this.#waitsForTooMuch) throw new UpstreamBusy();
    return this.#ended([...parts, ...this.#callParts()], this.#finish);
  }

  get #waitsForTooMuch(): boolean {
    return this.#waitingCharacters > MAX_WAITING_CHARACTERS;
  }

  /** The part that an event shows at once; null where it shows none, or waits. */
  #read(event: AnswerEvent): Shown | null {
    switch (event.kind) {
      case "text":
      case "refusal":
        return { text: event.text };
      case "reasoning":
        return this.#facts.showsThoughts ? { text: event.text, thought: true } : null;
      case "opaque":
        this.#thought = event;
        break;
      case "call":
        this.#begin(event);
        break;
      case "input":
        this.#addInput(event.call, event.text);
        break;
      case "finish":
        this.#finish = event.reason;
        break;
      case "usage":
        this.#usage = event.usage;
        break;
    }
    return null;
  }

  #begin({ call, id, name, opaque }: Extract<AnswerEvent, { kind: "call" }>): void {
    const thought = this.#thought;
    this.#thought = null;
    const unsigned = this.#calls.size === 0 ? UNSIGNED_CALL : null;
    const ofThought = thought === null ? unsigned : writeSignature("thought", thought);
    const signature = opaque === undefined ? ofThought : writeSignature("call", opaque);
    this.#calls.set(call, { id, name, signature, input: "" });
  }

  #addInput(number: number, text: string): void {
    const call = this.#calls.get(number);
    this.#waitingCharacters += text.length;
    if (call !== undefined && !this.#waitsForTooMuch) call.input += text;
  }

  #callParts(): object[] {
    return [...this.#calls.values()].map(({ id, name, signature, input }) => ({
      functionCall: { id, name, args: argumentsOf(input) },
      ...(signature === null ? {} : { thoughtSignature: signature }),
    }));
  }

  #ended(parts: readonly object[], reason: FinishReason): object {
    const candidate = { content: content(parts), finishReason: FINISH_REASONS[reason], index: 0 };
    return this.#chunk(candidate, this.#usage === null ? {} : { usageMetadata: shownUsage(this.#usage) });
  }

  #chunk(candidate: object, more: object = {}): object {
    return { candidates: [candidate], ...more, modelVersion: this.#facts.model, responseId: this.#requestId };
  }
}

type Shown = { text: string; readonly thought?: true };

function content(parts: readonly object[]): object {
  return { role: "model", parts };
}

/**
 * A call whose input is no JSON object, such as one that the cap has cut, keeps it as a text: it was written and is billed, so the
 * answer is given.
 */
function argumentsOf(input: string): object {
  return input.trim() === "" ? {} : (parseObject(input) ?? { invalid_json: input });
}

/** The billed tokens. Those of thoughts are not in those of the candidates here; cached ones are in those of the prompt. */
function shownUsage({ input, cached, output, reasoning, costIdr }: AnswerUsage): object {
  return {
    promptTokenCount: input,
    candidatesTokenCount: output - reasoning,
    totalTokenCount: input + output,
    cachedContentTokenCount: cached,
    thoughtsTokenCount: reasoning,
    costIdr,
  };
}
