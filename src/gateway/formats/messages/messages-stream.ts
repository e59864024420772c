// One Messages stream: the events of an upstream, and those that we write at its end.

import type { BilledUsage } from "../../metering/bill.ts";
import { isObject, type JsonObject } from "../../request/field-rules.ts";
import { parseObject } from "../../request/parse-object.ts";
import { dataOf, namedEventOf, splitEvents } from "../../stream/sse.ts";
import type { AnswerPart, AnswerStream, ReadEvent, Unstreamed } from "../answer-format.ts";
import { NO_ANSWER } from "../find-list.ts";
import { sizeOfText } from "../output-size.ts";
import type { ShownNames } from "../shown-format.ts";
import { beginOf, onOneLine, unlessTooDeep } from "../shown-text.ts";
import { billedUsage } from "./billed-message.ts";
import { blocksOf, textOfBlock } from "./message-text.ts";
import { blockEvents, blockStop, endEvent, eventFrom, startEvent, stopEvent } from "./own-events.ts";
import { readMessageEvent } from "./read-message-event.ts";
import { readWholeMessage } from "./whole-message.ts";

/** The texts that can be cut anywhere. */
const TEXTS = ["text", "thinking"] as const;

export class MessagesStream implements AnswerStream {
  readonly frames = null;
  readonly #names: ShownNames;
  /** The blocks that were begun and not ended, as clients know them. */
  readonly #open = new Set<number>();
  #hasStarted = false;
  #hasBlocks = false;
  #hasCalls = false;

  constructor({ names }: { readonly names: ShownNames }) {
    this.#names = names;
  }

  read(event: Buffer): ReadEvent {
    const read = readMessageEvent(event, { hasBlocks: this.#hasBlocks });
    if (read.meaning.kind === "part" && read.meaning.object["type"] === "content_block_start") this.#hasBlocks = true;
    return read;
  }

  show({ data }: ReadEvent, { object }: AnswerPart): Buffer | null {
    const { type, index, message, content_block: block } = object;
    if (type === "content_block_start" && typeof index === "number") this.#open.add(index);
    if (type === "content_block_stop" && typeof index === "number") this.#open.delete(index);
    if (isObject(block) && block["type"] === "tool_use") this.#hasCalls = true;
    if (type !== "message_start") return namedEventOf(String(type), onOneLine(data));
    this.#hasStarted = true;
    const shown = { ...object, type, message: { ...(isObject(message) ? message : {}), ...this.#names } };
    return unlessTooDeep(() => eventFrom(shown));
  }

  /** No event has usage alone: the one that ends the answer has it. */
  keepUsage(): void {}

  showShare({ object }: AnswerPart, share: number): Buffer | null {
    const { type, index, delta } = object;
    if (type === "message") return this.#shareOfMessage(object, share);
    if (type !== "content_block_delta" || !isObject(delta)) return null;
    for (const name of TEXTS) {
      const text = delta[name];
      const begin = typeof text === "string" ? beginOf(text, Math.floor(text.length * share)) : "";
      if (begin !== "") return eventFrom({ type, index, delta: { type: delta["type"], [name]: begin } });
    }
    return null;
  }

  #shareOfMessage(message: JsonObject, share: number): Buffer | null {
    const blocks = blockEvents(shareOf(message, share));
    if (blocks.length === 0) return null;
    this.#hasStarted = true;
    return Buffer.concat([startEvent(this.#names), ...blocks]);
  }

  readUnstreamed(json: Buffer): Unstreamed {
    const answer = readWholeMessage(json);
    if ("kind" in answer) return answer;
    const object = parseObject(answer.json.toString("utf8"));
    if (object === null) return NO_ANSWER;
    const { usage, isFree = false } = answer;
    const part: AnswerPart = {
      kind: "part",
      object,
      usage,
      isUsageOnly: false,
      hasOutput: true,
      choices: [0],
      finished: [0],
      isFree,
    };
    const text = blocksOf(object)
      .map((block) => textOfBlock(block, "{}"))
      .join("");
    const read = { event: answer.json, data: "", meaning: part, text, size: sizeOfText(text) };
    const shown = unlessTooDeep(() =>
      Buffer.concat([startEvent(this.#names), ...blockEvents(blocksOf(object)), endEvent(endOf(object), usage ?? {})]),
    );
    return shown === null ? NO_ANSWER : { kind: "answer", read, part, shown };
  }

  complete(held: readonly Buffer[], billed: BilledUsage): Buffer {
    const events = held.flatMap((bytes) => splitEvents(bytes));
    const ended = events.map((event) => withBilledUsage(event, billed));
    // Some upstreams leave out how the answer ended. Clients need it, and the usage in it.
    const isEnded = ended.some((event, index) => event !== events[index]);
    const end = isEnded
      ? []
      : [endEvent({ stop_reason: this.#hasCalls ? "tool_use" : "end_turn" }, billedUsage(null, billed))];
    return Buffer.concat([...ended, ...end, stopEvent()]);
  }

  stop(_unfinished: readonly number[], billed: BilledUsage): Buffer {
    const start = this.#hasStarted ? [] : [startEvent(this.#names)];
    const stops = [...this.#open].map(blockStop);
    return Buffer.concat([
      ...start,
      ...stops,
      endEvent({ stop_reason: "max_tokens" }, billedUsage(null, billed)),
      stopEvent(),
    ]);
  }
}

/** The blocks of a message up to its share, and a part of the last: whole calls alone. */
function shareOf(message: JsonObject, share: number): JsonObject[] {
  const blocks = blocksOf(message);
  let rest = Math.floor(blocks.reduce((length, block) => length + textOfBlock(block, "{}").length, 0) * share);
  const shown: JsonObject[] = [];
  for (const block of blocks) {
    const { length } = textOfBlock(block, "{}");
    if (length > rest) {
      const name = TEXTS.find((each) => typeof block[each] === "string");
      const begin = name === undefined ? "" : beginOf(String(block[name]), rest);
      return name === undefined || begin === "" ? shown : [...shown, { type: block["type"], [name]: begin }];
    }
    shown.push(block);
    rest -= length;
  }
  return shown;
}

/** How a whole message ended. */
function endOf({ stop_reason, stop_sequence = null, stop_details }: JsonObject): JsonObject {
  return {
    stop_reason: stop_reason ?? "end_turn",
    stop_sequence,
    ...(stop_details === undefined ? {} : { stop_details }),
  };
}

/** The event that ends the answer, with what was billed in it. Others stay as they are. */
function withBilledUsage(event: Buffer, billed: BilledUsage): Buffer {
  const object = parseObject(dataOf(event) ?? "");
  if (object?.["type"] !== "message_delta") return event;
  return eventFrom({ ...object, type: "message_delta", usage: billedUsage(object["usage"], billed) });
}
