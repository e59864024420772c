// Reads one event of a Messages stream: its meaning, its text and its size.

import { isObject, type JsonObject } from "../../request/field-rules.ts";
import { parseObject } from "../../request/parse-object.ts";
import { fieldsOf, isRestOfLine } from "../../stream/sse.ts";
import type { AnswerPart, EventMeaning, ReadEvent } from "../answer-format.ts";
import { NO_OUTPUT, sizeOfText } from "../output-size.ts";
import { textOfEvent } from "./message-text.ts";

/** What the events before have shown. */
export type EventFacts = { readonly hasBlocks: boolean };

/** Reads one complete event. */
export function readMessageEvent(event: Buffer, facts: EventFacts): ReadEvent {
  const { data, name } = fieldsOf(event);
  const meaning = isRestOfLine(event) ? NO_EVENT : meaningOf(data, name, facts);
  const text = meaning.kind === "part" ? textOfEvent(meaning.object) : "";
  return { event, data: data ?? "", meaning, text, size: text === "" ? NO_OUTPUT : sizeOfText(text) };
}

const NO_EVENT = { kind: "foreign" } as const;

function meaningOf(data: string | null, name: string | null, facts: EventFacts): EventMeaning {
  const text = data === null ? "" : data.trim();
  if (text === "") return { kind: "opaque" };
  const object = parseObject(text);
  if (object === null) return name === "error" ? { kind: "error", error: null, usage: null } : { kind: "malformed" };
  if (name === "error" || object["type"] === "error") {
    return { kind: "error", error: isObject(object["error"]) ? object["error"] : object, usage: null };
  }
  return meaningOfObject(object, facts);
}

const NOTHING = {
  kind: "part",
  usage: null,
  isUsageOnly: false,
  hasOutput: false,
  choices: [0],
  finished: [],
} as const;

function meaningOfObject(object: JsonObject, facts: EventFacts): EventMeaning {
  switch (object["type"]) {
    case "message_start":
      return { ...NOTHING, object, usage: usageIn(object["message"]) };
    case "content_block_start":
      return { ...NOTHING, object, hasOutput: isBegun(object["content_block"]) };
    case "content_block_delta":
      return { ...NOTHING, object, hasOutput: true };
    case "content_block_stop":
      return { ...NOTHING, object };
    case "message_delta":
      return endOf(object, facts);
    case "message_stop":
      return { kind: "done" };
    case "ping":
      return { kind: "opaque" };
    default:
      // An event that is not known yet passes: its client may know it.
      return { kind: typeof object["type"] === "string" ? "opaque" : "foreign" };
  }
}

/** A block of text begins empty. Any other shows that the model is at work, though its thoughts may be hidden. */
function isBegun(block: unknown): boolean {
  return isObject(block) && (block["type"] !== "text" || (block["text"] ?? "") !== "");
}

function endOf(object: JsonObject, { hasBlocks }: EventFacts): AnswerPart {
  const { delta } = object;
  const reason = isObject(delta) ? delta["stop_reason"] : null;
  const hasEnded = typeof reason === "string" && reason !== "";
  return {
    ...NOTHING,
    object,
    usage: usageIn(object),
    finished: hasEnded ? [0] : [],
    ...(isFreeRefusal(reason, hasBlocks) ? { isFree: true } : {}),
  };
}

/** A refusal before any output is counted and not charged. */
export function isFreeRefusal(reason: unknown, hasBlocks: boolean): boolean {
  return reason === "refusal" && !hasBlocks;
}

function usageIn(holder: unknown): JsonObject | null {
  return isObject(holder) && isObject(holder["usage"]) ? holder["usage"] : null;
}
