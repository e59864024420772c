// One item of a Responses answer on its way to events. Each of its texts is read once, whether it comes in pieces, at its end or both.

import { isObject, type JsonObject } from "../../request/field-rules.ts";
import type { AnswerEvent } from "../answer-events.ts";
import { plainCallId } from "../chat/call-ids.ts";
import { flatName } from "../conversation.ts";

/** What an item holds: `thought` is reasoning itself, of which most providers show a summary alone. */
type Source = "text" | "refusal" | "summary" | "thought" | "input";

/** The events with a piece of a text, and the member that orders the texts of an item. */
const DELTAS: Readonly<Record<string, readonly [source: Source, order: string]>> = {
  "response.output_text.delta": ["text", "content_index"],
  "response.refusal.delta": ["refusal", "content_index"],
  "response.reasoning_summary_text.delta": ["summary", "summary_index"],
  "response.reasoning_text.delta": ["thought", "content_index"],
};
const INPUT_DELTAS: ReadonlySet<unknown> = new Set([
  "response.function_call_arguments.delta",
  "response.custom_tool_call_input.delta",
]);
/** Between the parts of what a model thought. */
const BETWEEN_PARTS = "\n\n";
/** The form of a freeform tool's input. */
const INPUT_BEGIN = '{"input":"';
const INPUT_END = '"}';

type ItemFacts = { readonly origin: string; readonly nextCall: () => number };

export class AnsweredItem {
  readonly #item: JsonObject;
  readonly #facts: ItemFacts;
  /** How much of each text was read, by its kind and order. */
  readonly #read = new Map<string, number>();
  #call: number | null = null;
  #isSealed = false;
  #isClosed = false;

  /** `item`: as it was first seen. */
  constructor(item: JsonObject, facts: ItemFacts) {
    this.#item = item;
    this.#facts = facts;
  }

  get #isFreeform(): boolean {
    return this.#item["type"] === "custom_tool_call";
  }

  /** The beginning of a call. An item that has begun has no more of it. */
  begin(): AnswerEvent[] {
    if (this.#call !== null || !(this.#isFreeform || this.#item["type"] === "function_call")) return [];
    this.#call = this.#facts.nextCall();
    const { call_id: callId, id, name, namespace } = this.#item;
    const flat = flatName({ name: textOf(name), namespace: textOf(namespace) || null });
    const event: AnswerEvent = {
      kind: "call",
      call: this.#call,
      id: plainCallId(textOf(callId) || textOf(id)),
      name: flat,
    };
    return this.#isFreeform ? [event, { kind: "input", call: this.#call, text: INPUT_BEGIN }] : [event];
  }

  /** A piece of the item. */
  add(data: JsonObject): AnswerEvent[] {
    const { type, delta } = data;
    if (typeof delta !== "string" || delta === "" || this.#isClosed) return [];
    if (INPUT_DELTAS.has(type)) return this.#grow("input", 0, delta);
    const found = typeof type === "string" && Object.hasOwn(DELTAS, type) ? DELTAS[type] : undefined;
    if (found === undefined) return [];
    const [source, order] = found;
    return this.#grow(source, Number(data[order] ?? 0), delta);
  }

  /** The complete item: what was not read of it yet. */
  done({ type, content, summary, arguments: args, input, encrypted_content: encrypted }: JsonObject): AnswerEvent[] {
    if (this.#isClosed) return [];
    const events: AnswerEvent[] = [];
    if (type === "message") {
      for (const [order, part] of partsOf(content)) {
        if (part["type"] === "refusal") events.push(...this.#rest("refusal", order, part["refusal"]));
        else events.push(...this.#rest("text", order, part["text"]));
      }
    } else if (type === "reasoning") {
      const thoughts = partsOf(content);
      for (const [order, part] of thoughts) events.push(...this.#rest("thought", order, part["text"]));
      if (thoughts.length === 0) {
        for (const [order, part] of partsOf(summary)) events.push(...this.#rest("summary", order, part["text"]));
      }
      if (typeof encrypted === "string" && encrypted !== "" && !this.#isSealed) {
        this.#isSealed = true;
        events.push({ kind: "opaque", origin: this.#facts.origin, blob: encrypted });
      }
    } else if (this.#call !== null) {
      events.push(...this.#rest("input", 0, this.#isFreeform ? input : args));
    }
    return [...events, ...this.close()];
  }

  /** Nothing follows. */
  close(): AnswerEvent[] {
    if (this.#isClosed) return [];
    this.#isClosed = true;
    return this.#isFreeform && this.#call !== null ? [{ kind: "input", call: this.#call, text: INPUT_END }] : [];
  }

  #rest(source: Source, order: number, text: unknown): AnswerEvent[] {
    const rest = textOf(text).slice(this.#read.get(`${source} ${order}`) ?? 0);
    return rest === "" ? [] : this.#grow(source, order, rest);
  }

  #grow(source: Source, order: number, text: string): AnswerEvent[] {
    const place = `${source} ${order}`;
    const before = this.#read.get(place);
    this.#read.set(place, (before ?? 0) + text.length);
    if (source === "text" || source === "refusal") return [{ kind: source, text }];
    if (source === "input") {
      if (this.#call === null) return [];
      // A half of a pair is escaped, and its other half follows.
      return [{ kind: source, call: this.#call, text: this.#isFreeform ? JSON.stringify(text).slice(1, -1) : text }];
    }
    return [{ kind: "reasoning", text: order > 0 && before === undefined ? BETWEEN_PARTS + text : text }];
  }
}

function partsOf(list: unknown): [number, JsonObject][] {
  return Array.isArray(list)
    ? [...list.entries()].filter((entry): entry is [number, JsonObject] => isObject(entry[1]))
    : [];
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
