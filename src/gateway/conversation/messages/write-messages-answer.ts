// Writes an answer in Anthropic's Messages protocol. An upstream of another protocol may write several calls at once, and shows
// the size of the input at the end; here blocks follow each other, and an estimate comes first.

import { type DomainError, UpstreamBusy } from "../../../kernel/errors.ts";
import { refusalFacts } from "../../../kernel/refusal-facts.ts";
import type { JsonObject } from "../../request/field-rules.ts";
import { parseObject } from "../../request/parse-object.ts";
import type { AnswerEvent, AnswerUsage, FinishReason } from "../answer-events.ts";
import type { AnswerFacts, AnswerWriter, ProtocolEvent } from "../protocol.ts";
import { addPiece, type Block, continues, type Piece, PieceReader, sign } from "./answer-blocks.ts";
import { OWN_SIGNATURE } from "./own-signature.ts";
import { streamErrorType } from "./stream-error.ts";

/** Text that waits for the end of a call. More than this is written by no model within its bound. */
const MAX_WAITING_CHARACTERS = 4 * 1_024 * 1_024;

const STOP_REASONS = {
  stop: "end_turn",
  calls: "tool_use",
  length: "max_tokens",
  filtered: "refusal",
} as const satisfies Record<FinishReason, string>;

/** Of which text stopped the answer other protocols show nothing. */
const NO_STOP_SEQUENCE = { stop_sequence: null };

export class MessagesAnswerWriter implements AnswerWriter {
  readonly keepAlive: ProtocolEvent = event({ type: "ping" });
  readonly #facts: AnswerFacts;
  readonly #model: string;
  readonly #pieces = new PieceReader();
  #open: Piece | null = null;
  #index = -1;
  /** Blocks behind an open call. In which order its input and theirs come is up to the upstream, so they wait until the end. */
  #waiting: Block[] = [];
  #waitingCharacters = 0;
  #finish: FinishReason | null = null;
  #usage: AnswerUsage | null = null;

  /** `model`: the id of the catalog model. */
  constructor(facts: AnswerFacts, model: string) {
    this.#facts = facts;
    this.#model = model;
  }

  begin(): ProtocolEvent[] {
    const message = { ...this.#head(), content: [], stop_reason: null, ...NO_STOP_SEQUENCE, usage: this.#shownUsage() };
    return [event({ type: "message_start", message })];
  }

  write(answered: AnswerEvent): ProtocolEvent[] {
    if (answered.kind === "usage") this.#usage = answered.usage;
    if (answered.kind === "finish") return this.#finishBlocks(answered.reason);
    return this.#pieces.read(answered).flatMap((piece) => (this.#waitsForTooMuch ? [] : this.#writePiece(piece)));
  }

  /** Without its finish an answer is not complete, and must not look so. */
  end(): ProtocolEvent[] {
    if (this.#finish === null || this.#waitsForTooMuch) return this.fail(new UpstreamBusy());
    const delta = { stop_reason: STOP_REASONS[this.#finish], ...NO_STOP_SEQUENCE };
    return [event({ type: "message_delta", delta, usage: this.#shownUsage() }), event({ type: "message_stop" })];
  }

  fail(error: DomainError): ProtocolEvent[] {
    const { code, message } = error;
    const shown = { type: streamErrorType(error), message, details: { error_code: code, ...refusalFacts(error) } };
    return [event({ type: "error", error: shown, request_id: this.#facts.requestId })];
  }

  whole(events: readonly AnswerEvent[]): object {
    const blocks: Block[] = [];
    for (const answered of events) {
      if (answered.kind === "usage") this.#usage = answered.usage;
      else if (answered.kind === "finish") this.#finish = answered.reason;
      for (const piece of this.#pieces.read(answered)) addPiece(blocks, piece);
    }
    if (this.#finish === null) throw new UpstreamBusy();
    return {
      ...this.#head(),
      content: blocks.map(wholeBlock),
      stop_reason: STOP_REASONS[this.#finish],
      ...NO_STOP_SEQUENCE,
      usage: this.#shownUsage(),
    };
  }

  get #waitsForTooMuch(): boolean {
    return this.#waitingCharacters > MAX_WAITING_CHARACTERS;
  }

  #head(): object {
    return { id: `msg_${this.#facts.requestId}`, type: "message", role: "assistant", model: this.#model };
  }

  #writePiece(piece: Piece): ProtocolEvent[] {
    const open = this.#open;
    if (open !== null && continues(open, piece)) {
      sign(open, piece);
      return this.#deltas(piece);
    }
    if (open?.kind !== "tool_use") return [...this.#close(), ...this.#start(piece)];
    addPiece(this.#waiting, piece);
    this.#waitingCharacters += piece.text.length;
    if (this.#waitsForTooMuch) this.#waiting = [];
    return [];
  }

  #finishBlocks(reason: FinishReason): ProtocolEvent[] {
    this.#finish = reason;
    const waiting = this.#waiting;
    this.#waiting = [];
    return [...this.#close(), ...waiting.flatMap((block) => [...this.#start(block), ...this.#close()])];
  }

  #start(piece: Piece): ProtocolEvent[] {
    this.#open = piece;
    this.#index += 1;
    const start = { type: "content_block_start", index: this.#index, content_block: emptyBlock(piece) };
    return [event(start), ...this.#deltas(piece)];
  }

  #deltas(piece: Piece): ProtocolEvent[] {
    return piece.text === "" ? [] : [this.#delta(deltaOf(piece))];
  }

  #delta(delta: object): ProtocolEvent {
    return event({ type: "content_block_delta", index: this.#index, delta });
  }

  #close(): ProtocolEvent[] {
    const open = this.#open;
    this.#open = null;
    if (open === null) return [];
    const stop = event({ type: "content_block_stop", index: this.#index });
    if (open.kind !== "thinking") return [stop];
    return [this.#delta({ type: "signature_delta", signature: open.signature ?? OWN_SIGNATURE }), stop];
  }

  /** The estimate until the bill is there. What is read from a cache and written to it is not in the input here. */
  #shownUsage(): object {
    if (this.#usage === null) {
      const none = { cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 0 };
      return { input_tokens: this.#facts.inputTokens, ...none };
    }
    const { input, cached, written, written1h, output, reasoning, costIdr } = this.#usage;
    return {
      input_tokens: input - cached - written - written1h,
      cache_creation_input_tokens: written + written1h,
      cache_read_input_tokens: cached,
      cache_creation: { ephemeral_5m_input_tokens: written, ephemeral_1h_input_tokens: written1h },
      output_tokens: output,
      output_tokens_details: { thinking_tokens: reasoning },
      cost_idr: costIdr,
    };
  }
}

/** The name of an event is its type. */
function event(data: { readonly type: string } & JsonObject): ProtocolEvent {
  return { name: data.type, data };
}

function emptyBlock(piece: Piece): object {
  if (piece.kind === "tool_use") return { type: piece.kind, id: piece.id, name: piece.name, input: {} };
  return piece.kind === "text" ? { type: "text", text: "" } : { type: "thinking", thinking: "", signature: "" };
}

function deltaOf({ kind, text }: Piece): object {
  if (kind === "tool_use") return { type: "input_json_delta", partial_json: text };
  return kind === "text" ? { type: "text_delta", text } : { type: "thinking_delta", thinking: text };
}

/**
 * A call whose input is no JSON object, such as one that the cap has cut, keeps it as a text: it was written and is billed, so the
 * answer is given. A stream passes such an input on as it is.
 */
function wholeBlock(block: Block): object {
  const { text } = block;
  if (block.kind !== "tool_use") {
    return block.kind === "text"
      ? { type: "text", text }
      : { type: "thinking", thinking: text, signature: block.signature ?? OWN_SIGNATURE };
  }
  const input = text.trim() === "" ? {} : (parseObject(text) ?? { invalid_json: text });
  return { type: "tool_use", id: block.id, name: block.name, input };
}
