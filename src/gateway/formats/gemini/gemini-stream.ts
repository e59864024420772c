// One Gemini stream: the pieces of an upstream, and those that we write at its end.

import type { BilledUsage } from "../../metering/bill.ts";
import type { JsonObject } from "../../request/field-rules.ts";
import { parseObject } from "../../request/parse-object.ts";
import { splice } from "../../request/splice.ts";
import { dataOf, eventOf, splitEvents } from "../../stream/sse.ts";
import type { AnswerPart, AnswerStream, ReadEvent, Unstreamed } from "../answer-format.ts";
import { NO_ANSWER } from "../find-list.ts";
import type { ShownNames } from "../shown-format.ts";
import { scanOf } from "../scan-of.ts";
import { beginOf, onOneLine, unlessTooDeep } from "../shown-text.ts";
import { billedUsage, memberEdits, namesOf } from "./billed-gemini.ts";
import { outputPartsOf, textOfPart } from "./candidate-text.ts";
import { readPiece } from "./read-piece.ts";
import { readWholeGemini } from "./whole-gemini.ts";

export class GeminiStream implements AnswerStream {
  readonly frames = null;
  readonly #names: ShownNames;
  /** The upstream's last usage. It grows with each piece. */
  #usage: JsonObject | null = null;

  constructor({ names }: { readonly names: ShownNames }) {
    this.#names = names;
  }

  read(event: Buffer): ReadEvent {
    return readPiece(event);
  }

  /** The usage is shown once, as it was billed. All other bytes stay. */
  show({ data }: ReadEvent, { object, usage }: AnswerPart): Buffer | null {
    this.#usage = usage ?? this.#usage;
    const shown = eventWith({ data, values: namesOf(this.#names), without: "usageMetadata" });
    if (shown !== null) return shown;
    const { usageMetadata: _usage, ...piece } = object;
    return unlessTooDeep(() => this.#write(piece));
  }

  keepUsage({ meaning }: ReadEvent): void {
    if (meaning.kind === "part") this.#usage = meaning.usage ?? this.#usage;
  }

  showShare({ object }: AnswerPart, share: number): Buffer | null {
    const parts = shareOf(outputPartsOf(object), share);
    return parts.length === 0 ? null : this.#write({ candidates: [candidateOf(parts)] });
  }

  readUnstreamed(json: Buffer): Unstreamed {
    const answer = readWholeGemini(json);
    if ("kind" in answer) return answer;
    const piece = parseObject(answer.json.toString("utf8"));
    const read = piece === null ? null : unlessTooDeep(() => readPiece(eventOf(JSON.stringify(piece))));
    if (read?.meaning.kind !== "part") return NO_ANSWER;
    const part = { ...read.meaning, usage: answer.usage, isUsageOnly: false };
    const shown = this.show(read, part);
    return shown === null ? NO_ANSWER : { kind: "answer", read: { ...read, meaning: part }, part, shown };
  }

  complete(held: readonly Buffer[], billed: BilledUsage): Buffer {
    const events = held.flatMap((bytes) => splitEvents(bytes));
    const last = events.findLastIndex((event) => dataOf(event) !== null);
    const usageMetadata = billedUsage(this.#usage, billed);
    const data = last < 0 ? null : dataOf(events[last] ?? Buffer.alloc(0));
    const ended = data === null ? null : eventWith({ data, values: { usageMetadata } });
    const before = events.slice(0, ended === null ? events.length : last);
    return Buffer.concat([...before, ended ?? this.#write({ usageMetadata }), ...events.slice(before.length + 1)]);
  }

  stop(_unfinished: readonly number[], billed: BilledUsage): Buffer {
    const candidate = { ...candidateOf([{ text: "" }]), finishReason: "MAX_TOKENS" };
    return this.#write({ candidates: [candidate], usageMetadata: billedUsage(null, billed) });
  }

  #write(piece: JsonObject): Buffer {
    return eventOf(JSON.stringify({ ...piece, ...namesOf(this.#names) }));
  }
}

type ShownPiece = { readonly data: string; readonly values: JsonObject; readonly without?: string };

/** The event of a piece with members set, and one taken out. Null: the piece cannot be written over. */
function eventWith({ data, values, ...more }: ShownPiece): Buffer | null {
  const json = Buffer.from(data);
  const scan = scanOf(json);
  if (scan === null || scan.repeated.length > 0) return null;
  return eventOf(onOneLine(splice(json, memberEdits(json, scan.members, values, more)).toString("utf8")));
}

function candidateOf(parts: readonly JsonObject[]): JsonObject {
  return { content: { role: "model", parts }, index: 0 };
}

/** The parts up to a share of their text, and a part of the last: whole calls alone. */
function shareOf(parts: readonly JsonObject[], share: number): JsonObject[] {
  let rest = Math.floor(parts.reduce((length, part) => length + textOfPart(part).length, 0) * share);
  const shown: JsonObject[] = [];
  for (const part of parts) {
    const { length } = textOfPart(part);
    if (length > rest) {
      const { text, thought } = part;
      const begin = typeof text === "string" ? beginOf(text, rest) : "";
      return begin === "" ? shown : [...shown, { text: begin, ...(thought === true ? { thought } : {}) }];
    }
    if (length > 0) shown.push(part);
    rest -= length;
  }
  return shown;
}
