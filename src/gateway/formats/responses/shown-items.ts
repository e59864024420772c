// What of a response was shown in a stream: how much of each text, so that a repetition is not counted again, and the items, which the
// response at the end repeats.

import { isObject, type JsonObject } from "../../request/field-rules.ts";
import { isItemEvent, keyOf, textsOfEvent } from "./item-texts.ts";

/** A part of a message as far as it was shown. */
type OpenPart = { readonly kind: "text" | "refusal"; text: string; isDone: boolean };

type ShownItem = { item: JsonObject; isDone: boolean; readonly parts: Map<number, OpenPart> };

/** The kinds of parts by the events that add to them. */
const PART_KINDS: ReadonlyMap<unknown, OpenPart["kind"]> = new Map([
  ["response.output_text.delta", "text"],
  ["response.refusal.delta", "refusal"],
]);

export class ShownItems {
  readonly #lengths = new Map<string, number>();
  readonly #items = new Map<unknown, ShownItem>();

  /** The text of an event that was not shown before it. */
  newTextOf(event: JsonObject): string {
    return textsOfEvent(event)
      .map(({ place, text, isWhole }) => (isWhole ? text.slice(this.#lengths.get(place) ?? 0) : text))
      .join("");
  }

  /** The event is shown. */
  note(event: JsonObject): void {
    for (const { place, text, isWhole } of textsOfEvent(event)) {
      const before = this.#lengths.get(place) ?? 0;
      this.#lengths.set(place, isWhole ? Math.max(before, text.length) : before + text.length);
    }
    const { type, item } = event;
    if (isItemEvent(type) && isObject(item)) this.#noteItem(keyOf(event), item, type === "response.output_item.done");
    else this.#notePart(event);
  }

  /**
   * The events that end the open messages of an answer that goes no further, and the items that are complete then. An open call is
   * left out: no client may run a half of one.
   */
  close(): { readonly events: readonly JsonObject[]; readonly output: readonly JsonObject[] } {
    const events: JsonObject[] = [];
    const output: JsonObject[] = [];
    for (const [key, { item, isDone, parts }] of this.#items) {
      if (isDone) output.push(item);
      if (isDone || item["type"] !== "message" || parts.size === 0) continue;
      const content = [...parts.values()].map(contentOf);
      const place = { item_id: item["id"], output_index: key };
      for (const [index, part] of parts)
        if (!part.isDone) events.push(...partEnd(part, { ...place, content_index: index }));
      const ended = { ...item, status: "incomplete", content };
      events.push({ type: "response.output_item.done", output_index: key, item: ended });
      output.push(ended);
    }
    return { events, output };
  }

  #noteItem(key: unknown, item: JsonObject, isDone: boolean): void {
    const found = this.#items.get(key);
    if (found === undefined) this.#items.set(key, { item, isDone, parts: new Map() });
    else {
      found.item = item;
      found.isDone = isDone;
      if (isDone) found.parts.clear();
    }
  }

  #notePart(event: JsonObject): void {
    const { type, delta, content_index: index } = event;
    const parts = this.#items.get(keyOf(event))?.parts;
    if (parts === undefined || typeof index !== "number") return;
    const part = parts.get(index);
    if (type === "response.content_part.done" && part !== undefined) part.isDone = true;
    const kind = PART_KINDS.get(type);
    if (kind === undefined || typeof delta !== "string") return;
    if (part === undefined) parts.set(index, { kind, text: delta, isDone: false });
    else part.text += delta;
  }
}

function partEnd(part: OpenPart, place: JsonObject): JsonObject[] {
  const { kind, text } = part;
  const ended =
    kind === "text" ? { type: "response.output_text.done", text } : { type: "response.refusal.done", refusal: text };
  return [
    { ...place, ...ended },
    { type: "response.content_part.done", ...place, part: contentOf(part) },
  ];
}

function contentOf({ kind, text }: OpenPart): JsonObject {
  return kind === "text" ? { type: "output_text", text, annotations: [] } : { type: "refusal", refusal: text };
}
