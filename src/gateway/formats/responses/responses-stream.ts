// One Responses stream: the events of an upstream, and those that we write at its end.

import type { BilledUsage } from "../../metering/bill.ts";
import { isObject, type JsonObject } from "../../request/field-rules.ts";
import { parseObject } from "../../request/parse-object.ts";
import { dataOf, namedEventOf, splitEvents } from "../../stream/sse.ts";
import type { AnswerPart, AnswerStream, ReadEvent, Unstreamed } from "../answer-format.ts";
import { NO_ANSWER } from "../find-list.ts";
import { sizeOfText } from "../output-size.ts";
import type { ShownAs } from "../shown-format.ts";
import { beginOf, onOneLine, unlessTooDeep } from "../shown-text.ts";
import { billedUsage } from "./billed-response.ts";
import { isHiddenEvent } from "./hidden-members.ts";
import { ENDS, isCuttable, textsOfResponse } from "./item-texts.ts";
import { beginEvent, capEvent, endEvent, itemEvents, ownResponse } from "./own-events.ts";
import { readResponseEvent } from "./read-response-event.ts";
import { ShownItems } from "./shown-items.ts";
import { shownEvent, shownJson, shownResponse, withUsage } from "./shown-response.ts";
import { readWholeResponse } from "./whole-response.ts";

export class ResponsesStream implements AnswerStream {
  readonly frames = null;
  readonly #as: ShownAs;
  readonly #items = new ShownItems();
  /** The response as it was shown last, without its output. Null: it was not begun. */
  #response: JsonObject | null = null;
  #nextNumber = 0;

  constructor({ names, native }: ShownAs) {
    this.#as = { names, native };
  }

  read(event: Buffer): ReadEvent {
    const read = readResponseEvent(event, this.#items);
    const { native } = this.#as;
    if (native === undefined || read.meaning.kind !== "part" || read.text !== "") return read;
    const isHidden = isHiddenEvent(read.meaning.object["type"], read.data, native);
    return isHidden ? { ...read, meaning: { kind: "foreign" } } : read;
  }

  show({ data }: ReadEvent, { object }: AnswerPart): Buffer | null {
    const { type, response, item, sequence_number: number } = object;
    if (typeof number === "number") this.#nextNumber = number + 1;
    this.#items.note(item === undefined ? object : shownEvent(object, this.#as));
    if (isObject(response)) {
      const { output: _, ...begun } = shownResponse(response, this.#as);
      this.#response = begun;
    }
    const json = shownJson(onOneLine(data), object, this.#as);
    return json === null ? null : namedEventOf(String(type), json);
  }

  /** No event has usage alone: the one that ends the answer has it. */
  keepUsage(): void {}

  showShare({ object }: AnswerPart, share: number): Buffer | null {
    const { type, delta } = object;
    if (type === undefined) return this.#shareOfResponse(object, share);
    const text = isCuttable(type) && typeof delta === "string" ? beginOf(delta, Math.floor(delta.length * share)) : "";
    return text === "" ? null : this.#write([{ ...object, delta: text }]);
  }

  readUnstreamed(json: Buffer): Unstreamed {
    const answer = readWholeResponse(json);
    if ("kind" in answer) return answer;
    const object = parseObject(answer.json.toString("utf8"));
    if (object === null) return NO_ANSWER;
    const text = textsOfResponse(object)
      .map((each) => each.text)
      .join("");
    const part = {
      kind: "part",
      object,
      usage: answer.usage,
      isUsageOnly: false,
      hasOutput: true,
      choices: [0],
      finished: [0],
    } as const;
    const response = shownResponse(object, this.#as);
    const events = [beginEvent(response), ...itemEvents(response, 1), endEvent(response)];
    const shown = unlessTooDeep(() => Buffer.concat(events.map((event, number) => bytesOf(event, number))));
    const read = { event: answer.json, data: "", meaning: part, text, size: sizeOfText(text) };
    return shown === null ? NO_ANSWER : { kind: "answer", read, part, shown };
  }

  complete(held: readonly Buffer[], billed: BilledUsage): Buffer {
    const events = held.flatMap((bytes) => splitEvents(bytes));
    return Buffer.concat(events.map((event) => withBilledUsage(event, billed)));
  }

  stop(_unfinished: readonly number[], billed: BilledUsage): Buffer {
    const begun = this.#response ?? ownResponse(this.#as.names);
    const begin = this.#response === null ? [beginEvent(begun)] : [];
    const { events, output } = this.#items.close();
    return this.#write([...begin, ...events, capEvent(begun, output, billedUsage(null, billed))]);
  }

  /** A whole response goes out in part, as the events that it would have had up to there. */
  #shareOfResponse(object: JsonObject, share: number): Buffer | null {
    const response = shownResponse(object, this.#as);
    const events = itemEvents(response, share);
    if (events.length === 0) return null;
    const { output: _, type: _type, ...begun } = response;
    this.#response = begun;
    return this.#write([beginEvent(begun), ...events]);
  }

  /** Events of our own, with the numbers that follow those that were shown. */
  #write(events: readonly JsonObject[]): Buffer {
    return Buffer.concat(
      events.map((event) => {
        this.#items.note(event);
        return bytesOf(event, this.#nextNumber++);
      }),
    );
  }
}

function bytesOf(event: JsonObject, number: number): Buffer {
  return namedEventOf(String(event["type"]), JSON.stringify({ ...event, sequence_number: number }));
}

/** The event that ends the response, with what was billed in it. Others stay as they are. */
function withBilledUsage(event: Buffer, billed: BilledUsage): Buffer {
  const json = dataOf(event) ?? "";
  const object = parseObject(json);
  const response = object?.["response"];
  if (object === null || !ENDS.has(object["type"]) || !isObject(response)) return event;
  return namedEventOf(String(object["type"]), withUsage(json, object, billedUsage(response["usage"], billed)));
}
