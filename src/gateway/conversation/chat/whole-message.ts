// The whole message of an answer, from what its events add to it.

import { isObject, type JsonObject } from "../../request/field-rules.ts";
import type { MessagePart } from "./answer-calls.ts";

/** A text that grows, or members that do. */
type Growing = string | { [name: string]: Growing };

/** Joins the parts as clients of a stream do: texts grow, calls by their index, and details follow each other. */
export class WholeMessage {
  readonly #texts: { [name: string]: Growing } = {};
  readonly #calls: { [name: string]: Growing }[] = [];
  readonly #details: unknown[] = [];

  add({ tool_calls: calls, reasoning_details: details, ...texts }: MessagePart): void {
    grow(this.#texts, texts);
    for (const call of objectsIn(calls)) {
      const { index, ...piece } = call;
      grow((this.#calls[Number(index)] ??= {}), piece);
    }
    this.#details.push(...objectsIn(details));
  }

  whole(): object {
    return {
      role: "assistant",
      content: null,
      refusal: null,
      ...this.#texts,
      ...(this.#details.length === 0 ? {} : { reasoning_details: this.#details }),
      ...(this.#calls.length === 0 ? {} : { tool_calls: this.#calls }),
    };
  }
}

function grow(known: { [name: string]: Growing }, added: JsonObject): void {
  for (const [name, value] of Object.entries(added)) {
    const before = known[name];
    if (typeof value === "string") known[name] = (typeof before === "string" ? before : "") + value;
    else if (isObject(value)) {
      const members = typeof before === "object" ? before : {};
      grow(members, value);
      known[name] = members;
    }
  }
}

function objectsIn(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
