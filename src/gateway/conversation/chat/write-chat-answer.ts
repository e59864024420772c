// Writes an answer of another protocol as chat chunks, or as a whole chat completion.

import { type DomainError, UpstreamBusy } from "../../../kernel/errors.ts";
import type { AnswerEvent, AnswerUsage, FinishReason } from "../answer-events.ts";
import { flatName, type Opaque, type Tool } from "../conversation.ts";
import { callIdText } from "../opaque-text.ts";
import type { AnswerFacts, AnswerWriter, ProtocolEvent } from "../protocol.ts";
import { type AnsweredCall, CustomCall, FunctionCall, type MessagePart, OlderCall } from "./answer-calls.ts";
import { chatUsage } from "./chat-usage.ts";
import { reasoningDetail } from "./read-chat-reasoning.ts";
import { chatStreamError } from "./stream-error.ts";
import { WholeMessage } from "./whole-message.ts";

/** What an answer shows of its chat request. */
export type ChatAnswerOptions = {
  /** The id of the catalog model. */
  readonly model: string;
  /** Whether a stream ends with its usage. */
  readonly wantsUsage: boolean;
  readonly tools: readonly Tool[];
  /** Whether the client reads `function_call` in place of `tool_calls`: it has room for the first call alone. */
  readonly hasFunctions: boolean;
};

const FINISH_REASONS = {
  stop: "stop",
  calls: "tool_calls",
  length: "length",
  filtered: "content_filter",
} as const satisfies Record<FinishReason, string>;

export class ChatAnswerWriter implements AnswerWriter {
  /** Clients skip comments. */
  readonly keepAlive = null;
  readonly #facts: AnswerFacts;
  readonly #options: ChatAnswerOptions;
  readonly #freeform: ReadonlySet<string>;
  /** The calls that have begun, in their order. */
  readonly #calls: AnsweredCall[] = [];
  /** The reasoning since the last part of another kind, which a provider may still add to. */
  #reasoning = "";
  #details = 0;
  #finish: FinishReason | null = null;
  #usage: AnswerUsage | null = null;

  constructor(facts: AnswerFacts, options: ChatAnswerOptions) {
    this.#facts = facts;
    this.#options = options;
    this.#freeform = new Set(options.tools.filter(({ schema }) => schema === null).map(flatName));
  }

  begin(): ProtocolEvent[] {
    return [this.#chunk([choiceOf({ role: "assistant", content: "" })])];
  }

  write(event: AnswerEvent): ProtocolEvent[] {
    const chunks = this.#partsOf(event).map((part) => this.#chunk([choiceOf(part)]));
    if (event.kind === "finish") chunks.push(this.#chunk([choiceOf({}, this.#finishReason(event.reason))]));
    return chunks;
  }

  /** Without its finish an answer is not complete, and must not look so. */
  end(): ProtocolEvent[] {
    if (this.#finish === null) return this.fail(new UpstreamBusy());
    const usage = this.#usage;
    return this.#options.wantsUsage && usage !== null ? [this.#chunk([], chatUsage(usage))] : [];
  }

  fail(error: DomainError): ProtocolEvent[] {
    return [{ name: null, data: chatStreamError(error) }];
  }

  whole(events: readonly AnswerEvent[]): object {
    const message = new WholeMessage();
    for (const event of events) for (const part of this.#partsOf(event)) message.add(part);
    if (this.#finish === null || this.#usage === null) throw new UpstreamBusy();
    const choice = {
      index: 0,
      message: message.whole(),
      logprobs: null,
      finish_reason: this.#finishReason(this.#finish),
    };
    return { ...this.#head("chat.completion"), choices: [choice], usage: chatUsage(this.#usage) };
  }

  /** What an event adds to the message. */
  #partsOf(event: AnswerEvent): MessagePart[] {
    if (event.kind !== "reasoning" && event.kind !== "opaque") this.#reasoning = "";
    switch (event.kind) {
      case "text":
        return [{ content: event.text }];
      case "refusal":
        return [{ refusal: event.text }];
      case "reasoning":
        this.#reasoning += event.text;
        return [{ reasoning_content: event.text }];
      case "opaque":
        return [this.#detail(event)];
      case "call":
        return this.#begin(event);
      case "input":
        return this.#calls[event.call]?.add(event.text) ?? [];
      case "usage":
        this.#usage = event.usage;
        return [];
      case "finish":
        this.#finish = event.reason;
    }
    // A call that was cut has no complete input.
    return event.reason === "length" ? [] : this.#calls.flatMap((call) => call.done());
  }

  #detail({ origin, blob }: Opaque): MessagePart {
    const detail = reasoningDetail(this.#details, this.#reasoning, { origin, blob });
    this.#details += 1;
    this.#reasoning = "";
    return { reasoning_details: [detail] };
  }

  #begin({ call: index, name, ...called }: Extract<AnswerEvent, { readonly kind: "call" }>): MessagePart[] {
    const id = callIdText(called);
    const call = this.#options.hasFunctions
      ? new OlderCall(index, name)
      : this.#freeform.has(name)
        ? new CustomCall(index, id, name)
        : new FunctionCall(index, id, name);
    this.#calls[index] = call;
    return call.begin();
  }

  #finishReason(reason: FinishReason): string {
    return reason === "calls" && this.#options.hasFunctions ? "function_call" : FINISH_REASONS[reason];
  }

  #chunk(choices: readonly object[], usage: object | null = null): ProtocolEvent {
    const shown = this.#options.wantsUsage ? { usage } : {};
    return { name: null, data: { ...this.#head("chat.completion.chunk"), choices, ...shown } };
  }

  #head(object: string): object {
    const { requestId, createdAtMs } = this.#facts;
    const created = Math.floor(createdAtMs / 1_000);
    return { id: `chatcmpl-${requestId}`, object, created, model: this.#options.model };
  }
}

function choiceOf(delta: MessagePart, finishReason: string | null = null): object {
  return { index: 0, delta, logprobs: null, finish_reason: finishReason };
}
