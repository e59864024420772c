// Reads an answer of Anthropic's Messages as events: the events of its stream, or the whole answer. They have our names by then, and
// the billed usage.

import { MESSAGES_USAGE, readMessagesUsage } from "../../metering/messages-usage.ts";
import { UsageSeen } from "../../metering/usage-seen.ts";
import { isObject, type JsonObject } from "../../request/field-rules.ts";
import type { AnswerEvent, AnswerUsage, FinishReason } from "../answer-events.ts";
import { plainCallId } from "../chat/call-ids.ts";
import { REDACTED } from "./write-blocks.ts";

/** A block that was begun. */
type OpenBlock =
  | { readonly kind: "thinking"; signature: string }
  /** `given`: an input that came with the beginning of the block. */
  | { readonly kind: "call"; readonly call: number; hasInput: boolean; readonly given: string }
  | { readonly kind: "other" };

export class MessagesAnswerReader {
  readonly #origin: string;
  readonly #usage = new UsageSeen(MESSAGES_USAGE);
  readonly #open = new Map<unknown, OpenBlock>();
  readonly #ids = new Set<string>();
  #calls = 0;
  #stopReason: unknown = null;

  /** `origin`: the id of the upstream that answers. */
  constructor(origin: string) {
    this.#origin = origin;
  }

  /** The events of one event of the stream, or of a whole answer. Pings and events of a kind that is not known have none. */
  read(part: JsonObject): AnswerEvent[] {
    const { type, index } = part;
    switch (type) {
      case "message_start":
        this.#addUsage(part["message"]);
        return [];
      case "content_block_start":
        return isObject(part["content_block"]) ? this.#begin(index, part["content_block"]) : [];
      case "content_block_delta":
        return isObject(part["delta"]) ? this.#goOn(this.#open.get(index), part["delta"]) : [];
      case "content_block_stop":
        return this.#finish(index);
      case "message_delta":
        this.#addUsage(part);
        if (isObject(part["delta"])) this.#stopReason = part["delta"]["stop_reason"] ?? this.#stopReason;
        return [];
      case "message":
        return this.#readWhole(part);
      default:
        return [];
    }
  }

  /** The events behind the last part: how the answer ended, and the billed usage. */
  end(): AnswerEvent[] {
    const late = [...this.#open.keys()].flatMap((index) => this.#finish(index));
    return [
      ...late,
      { kind: "finish", reason: finishReason(this.#stopReason, this.#calls > 0) },
      { kind: "usage", usage: usageOf(this.#usage.usage) },
    ];
  }

  #readWhole(answer: JsonObject): AnswerEvent[] {
    this.#addUsage(answer);
    this.#stopReason = answer["stop_reason"];
    const { content } = answer;
    const blocks = Array.isArray(content) ? content.filter(isObject) : [];
    return blocks.flatMap((block, index) => [...this.#begin(index, block), ...this.#finish(index)]);
  }

  #addUsage(holder: unknown): void {
    if (isObject(holder) && isObject(holder["usage"])) this.#usage.add(holder["usage"]);
  }

  #begin(index: unknown, block: JsonObject): AnswerEvent[] {
    switch (block["type"]) {
      case "text":
        this.#open.set(index, { kind: "other" });
        return textEvents("text", block["text"]);
      case "thinking":
        this.#open.set(index, { kind: "thinking", signature: textOf(block["signature"]) });
        return textEvents("reasoning", block["thinking"]);
      case "redacted_thinking":
        return this.#opaque(`${REDACTED}${textOf(block["data"])}`);
      case "tool_use":
        return this.#beginCall(index, block);
      default:
        // Blocks of tools that the provider runs are never asked for.
        this.#open.set(index, { kind: "other" });
        return [];
    }
  }

  #beginCall(index: unknown, { id, name, input }: JsonObject): AnswerEvent[] {
    const call = this.#calls;
    this.#calls += 1;
    const given = isObject(input) && Object.keys(input).length > 0 ? JSON.stringify(input) : "{}";
    this.#open.set(index, { kind: "call", call, hasInput: false, given });
    return [{ kind: "call", call, id: this.#uniqueId(textOf(id)), name: textOf(name) }];
  }

  /** A client returns results by id, and a request with the same id twice is refused. */
  #uniqueId(id: string): string {
    const plain = plainCallId(id);
    let unique = plain;
    for (let again = 2; this.#ids.has(unique); again += 1) unique = plainCallId(`${plain}.${again}`);
    this.#ids.add(unique);
    return unique;
  }

  #goOn(block: OpenBlock | undefined, delta: JsonObject): AnswerEvent[] {
    switch (delta["type"]) {
      case "text_delta":
        return textEvents("text", delta["text"]);
      case "thinking_delta":
        return textEvents("reasoning", delta["thinking"]);
      case "signature_delta":
        if (block?.kind === "thinking") block.signature += textOf(delta["signature"]);
        return [];
      case "input_json_delta": {
        const text = textOf(delta["partial_json"]);
        if (block?.kind !== "call" || text === "") return [];
        block.hasInput = true;
        return [{ kind: "input", call: block.call, text }];
      }
      default:
        return [];
    }
  }

  #finish(index: unknown): AnswerEvent[] {
    const block = this.#open.get(index);
    this.#open.delete(index);
    if (block?.kind === "thinking") return this.#opaque(block.signature);
    if (block?.kind === "call" && !block.hasInput) return [{ kind: "input", call: block.call, text: block.given }];
    return [];
  }

  #opaque(blob: string): AnswerEvent[] {
    return blob === "" ? [] : [{ kind: "opaque", origin: this.#origin, blob }];
  }
}

const LENGTH: ReadonlySet<unknown> = new Set(["max_tokens", "model_context_window_exceeded"]);

function finishReason(reason: unknown, hasCalls: boolean): FinishReason {
  if (LENGTH.has(reason)) return "length";
  if (reason === "refusal") return "filtered";
  return hasCalls ? "calls" : "stop";
}

function usageOf(usage: JsonObject | null): AnswerUsage {
  const reading = readMessagesUsage(usage);
  const costIdr = usage?.["cost_idr"];
  const { inputTokensUncached = 0, inputTokensCached = 0, outputTokens = 0, otherTokens } = reading?.counts ?? {};
  const { cacheWrite = 0, cacheWrite1h = 0 } = otherTokens ?? {};
  return {
    input: inputTokensUncached + inputTokensCached + cacheWrite + cacheWrite1h,
    cached: inputTokensCached,
    written: cacheWrite,
    written1h: cacheWrite1h,
    output: outputTokens,
    reasoning: reading?.reasoningTokens ?? 0,
    costIdr: typeof costIdr === "string" ? costIdr : "0",
  };
}

function textEvents(kind: "text" | "reasoning", text: unknown): AnswerEvent[] {
  return typeof text === "string" && text !== "" ? [{ kind, text }] : [];
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
