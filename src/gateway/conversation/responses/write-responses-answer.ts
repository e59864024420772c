// Writes an answer as the events of the Responses protocol. One item is open at a time. While a call is open, what belongs to other
// items waits: the inputs of several calls may alternate, and a call that is done cannot grow.

import { type DomainError, UpstreamBusy } from "../../../kernel/errors.ts";
import { refusalFacts } from "../../../kernel/refusal-facts.ts";
import type { JsonObject } from "../../request/field-rules.ts";
import type { AnswerEvent, AnswerUsage, FinishReason } from "../answer-events.ts";
import { flatName, type Conversation, type Opaque, type Tool } from "../conversation.ts";
import { callIdText, opaqueText } from "../opaque-text.ts";
import type { AnswerFacts, AnswerWriter, ProtocolEvent } from "../protocol.ts";
import { failureCode } from "./failure-code.ts";
import {
  CustomCallItem,
  FunctionCallItem,
  type ItemPlace,
  MessageItem,
  type OutputEvent,
  type OutputItem,
  ReasoningItem,
} from "./output-items.ts";
import type { ResponsesRequest } from "./read-responses-request.ts";

/** What may wait for the end of a call, in characters. An answer with more is broken off. */
const MAX_WAITING_CHARACTERS = 4 * 1_024 * 1_024;

/** An event that belongs to an item. */
type OutputPiece = Extract<
  AnswerEvent,
  { readonly kind: "text" | "refusal" | "reasoning" | "opaque" | "call" | "input" }
>;
/** What waits to become an item: the start of it, and what follows that belongs to it. */
type WaitingItem = { readonly start: Exclude<OutputPiece, { kind: "input" }>; readonly rest: OutputPiece[] };

export class ResponsesAnswerWriter implements AnswerWriter {
  /** Clients accept comments. */
  readonly keepAlive = null;
  readonly #facts: AnswerFacts;
  readonly #conversation: Conversation;
  readonly #repeated: JsonObject;
  readonly #tools: ReadonlyMap<string, Tool>;
  readonly #done: OutputItem[] = [];
  #open: OutputItem | null = null;
  /** The number of the open call. */
  #openCall: number | null = null;
  #waiting: WaitingItem[] = [];
  #waitingCharacters = 0;
  #sequence = 0;
  #finish: FinishReason | null = null;
  #usage: AnswerUsage | null = null;
  #isOver = false;
  #hasPassed = false;

  constructor({ conversation, repeated }: ResponsesRequest, facts: AnswerFacts) {
    this.#facts = facts;
    this.#conversation = conversation;
    this.#repeated = repeated;
    this.#tools = new Map(conversation.tools.map((tool) => [flatName(tool), tool]));
  }

  begin(): ProtocolEvent[] {
    return this.#numbered([{ type: "response.created", response: this.#response("in_progress") }]);
  }

  write(event: AnswerEvent): ProtocolEvent[] {
    if (this.#isOver) return [];
    if (event.kind === "finish") {
      this.#finish = event.reason;
      return this.#numbered(this.#finishItems());
    }
    if (event.kind === "usage") {
      this.#usage = event.usage;
      return [];
    }
    if (this.#canBeWritten(event)) return this.#numbered(this.#add(event));
    this.#wait(event);
    return this.#waitingCharacters > MAX_WAITING_CHARACTERS ? this.fail(new UpstreamBusy()) : [];
  }

  end(): ProtocolEvent[] {
    if (this.#finish === null) return this.fail(new UpstreamBusy());
    if (this.#isOver) return [];
    this.#isOver = true;
    const reason = INCOMPLETE[this.#finish];
    if (reason === null) return this.#numbered([{ type: "response.completed", response: this.#response("completed") }]);
    const response = { ...this.#response("incomplete"), incomplete_details: { reason } };
    return this.#numbered([{ type: "response.incomplete", response }]);
  }

  passed({ sequence_number: last }: JsonObject): void {
    this.#hasPassed = true;
    if (typeof last === "number") this.#sequence = last + 1;
  }

  fail(error: DomainError): ProtocolEvent[] {
    if (this.#isOver) return [];
    this.#isOver = true;
    const code = failureCode(error, this.#hasPassed || this.#done.length > 0 || this.#open !== null);
    const response = { ...this.#response("failed"), error: { code, message: error.message, ...refusalFacts(error) } };
    return this.#numbered([{ type: "response.failed", response }]);
  }

  whole(events: readonly AnswerEvent[]): object {
    for (const event of events) this.write(event);
    if (this.#finish === null || this.#isOver) throw new UpstreamBusy();
    const reason = INCOMPLETE[this.#finish];
    if (reason === null) return this.#response("completed");
    return { ...this.#response("incomplete"), incomplete_details: { reason } };
  }

  /** Whether it is for the open call, or no call is open. */
  #canBeWritten(piece: OutputPiece): boolean {
    if (this.#openCall === null) return true;
    return piece.kind === "input" && piece.call === this.#openCall;
  }

  #add(piece: OutputPiece): OutputEvent[] {
    switch (piece.kind) {
      case "text":
      case "refusal": {
        const [item, events] = this.#opened(MessageItem, (place) => new MessageItem(place));
        return [...events, ...item.add(piece.kind, piece.text)];
      }
      case "reasoning": {
        const sealed = this.#open instanceof ReasoningItem && this.#open.isSealed ? this.#close("completed") : [];
        const [item, events] = this.#opened(ReasoningItem, (place) => new ReasoningItem(place));
        return [...sealed, ...events, ...item.add(piece.text)];
      }
      case "opaque":
        return this.#seal(piece);
      case "call": {
        const events = [...this.#close("completed"), ...this.#begin(this.#callItem(piece))];
        this.#openCall = piece.call;
        return events;
      }
      case "input":
        break;
    }
    return isCall(this.#open) && piece.text !== "" ? this.#open.add(piece.text) : [];
  }

  #seal(opaque: Opaque): OutputEvent[] {
    const sealed = this.#open instanceof ReasoningItem && this.#open.isSealed ? this.#close("completed") : [];
    const [item, events] = this.#opened(ReasoningItem, (place) => new ReasoningItem(place));
    item.seal(opaqueText(opaque));
    return [...sealed, ...events];
  }

  #callItem(piece: Extract<AnswerEvent, { readonly kind: "call" }>): OutputItem {
    const tool = this.#tools.get(piece.name);
    const call = { callId: callIdText(piece), name: piece.name };
    if (tool?.schema === null) return new CustomCallItem(this.#place(), call, tool);
    return new FunctionCallItem(this.#place(), call, tool);
  }

  /** The open item of a kind, and the events that open it where it is not open yet. */
  #opened<T extends OutputItem>(kind: new (place: ItemPlace) => T, make: (place: ItemPlace) => T): [T, OutputEvent[]] {
    if (this.#open instanceof kind) return [this.#open, []];
    const events = this.#close("completed");
    const item = make(this.#place());
    return [item, [...events, ...this.#begin(item)]];
  }

  #begin(item: OutputItem): OutputEvent[] {
    this.#open = item;
    return item.begin();
  }

  #close(status: "completed" | "incomplete"): OutputEvent[] {
    const item = this.#open;
    if (item === null) return [];
    this.#open = null;
    this.#openCall = null;
    this.#done.push(item);
    return item.done(status);
  }

  #wait(piece: OutputPiece): void {
    this.#waitingCharacters += sizeOf(piece);
    const item = this.#waiting.findLast(({ start }, at) => belongsTo(start, piece, at === this.#waiting.length - 1));
    if (item !== undefined) item.rest.push(piece);
    else if (piece.kind !== "input") this.#waiting.push({ start: piece, rest: [] });
  }

  /** Ends the open item and writes what has waited. Where the answer was cut, the last item is not complete. */
  #finishItems(): OutputEvent[] {
    const events: OutputEvent[] = [];
    for (const { start, rest } of this.#waiting) {
      events.push(...this.#close("completed"), ...this.#add(start), ...rest.flatMap((piece) => this.#add(piece)));
    }
    this.#waiting = [];
    const isCut = this.#finish !== null && INCOMPLETE[this.#finish] !== null;
    return [...events, ...this.#close(isCut ? "incomplete" : "completed")];
  }

  #place(): ItemPlace {
    return { index: this.#done.length, answerId: this.#facts.requestId };
  }

  #response(status: string): object {
    return {
      id: `resp_${this.#facts.requestId}`,
      object: "response",
      created_at: Math.floor(this.#facts.createdAtMs / 1_000),
      status,
      model: this.#conversation.model,
      output: this.#done.map((item) => item.result),
      error: null,
      incomplete_details: null,
      background: false,
      instructions: null,
      previous_response_id: null,
      service_tier: "default",
      store: false,
      tools: [],
      truncation: "disabled",
      ...this.#repeated,
      usage: this.#usage === null ? null : usageOf(this.#usage),
    };
  }

  #numbered(events: readonly OutputEvent[]): ProtocolEvent[] {
    return events.map((event) => {
      const data = { ...event, sequence_number: this.#sequence };
      this.#sequence += 1;
      return { name: event.type, data };
    });
  }
}

/** Why an answer with this end is not complete; null: it is. */
const INCOMPLETE: Readonly<Record<FinishReason, string | null>> = {
  stop: null,
  calls: null,
  length: "max_output_tokens",
  filtered: "content_filter",
};

function sizeOf(piece: OutputPiece): number {
  if (piece.kind === "opaque") return piece.blob.length;
  return piece.kind === "call" ? piece.name.length + (piece.opaque?.blob.length ?? 0) : piece.text.length;
}

/** Whether a piece is more of the item that begins with `start`. */
function belongsTo(start: OutputPiece, piece: OutputPiece, isLast: boolean): boolean {
  if (piece.kind === "input") return start.kind === "call" && start.call === piece.call;
  if (!isLast) return false;
  return piece.kind === "opaque" ? start.kind === "reasoning" : piece.kind !== "call" && start.kind === piece.kind;
}

function isCall(item: OutputItem | null): item is FunctionCallItem | CustomCallItem {
  return item instanceof FunctionCallItem || item instanceof CustomCallItem;
}

function usageOf({ input, cached, written, written1h, output, reasoning, costIdr }: AnswerUsage): object {
  return {
    input_tokens: input,
    input_tokens_details: {
      cached_tokens: cached,
      cache_write_tokens: written + written1h,
      cache_write_tokens_details: { ttl_30m_tokens: written, ttl_12h_tokens: written1h },
    },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + output,
    cost_idr: costIdr,
  };
}
