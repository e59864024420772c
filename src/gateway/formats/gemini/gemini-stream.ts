// One Gemini stream: the pieces of an upstream, and those that we write at its end.

import type { BilledUsage } from "../../metering/bill.ts";
import type { JsonObject } from "../../request/field-rules.ts";
import { parseObject } from "../../request/parse-object.ts";
import { dataOf, eventOf, splitEvents } from "../../stream/sse.ts";
import type { AnswerPart, AnswerStream, ReadEvent, Unstreamed } from "../answer-format.ts";
import { NO_ANSWER } from "../find-list.ts";
import type { ShownNames } from "../shown-format.ts";
import { beginOf, unlessTooDeep } from "../shown-text.ts";
import { billedUsage, namesOf } from "./billed-gemini.ts";
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

  /** The usage is shown once, as it was billed. */
  show(_read: ReadEvent, { object, usage }: AnswerPart): Buffer | null {
    this.#usage = usage ?? this.#usage;
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
    const piece = parseObject(dataOf(events[last] ?? Buffer.alloc(0)) ?? "");
    const ended =
      piece === null ? this.#write({ usageMetadata }) : eventOf(JSON.stringify({ ...piece, usageMetadata }));
    return Buffer.concat([...events.slice(0, Math.max(last, 0)), ended, ...events.slice(last + 1)]);
  }

  stop(_unfinished: readonly number[], billed: BilledUsage): Buffer {
    const candidate = { ...candidateOf([{ text: "" }]), finishReason: "MAX_TOKENS" };
    return this.#write({ candidates: [candidate], usageMetadata: billedUsage(null, billed) });
  }

  #write(piece: JsonObject): Buffer {
    return eventOf(JSON.stringify({ ...piece, ...namesOf(this.#names) }));
  }
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
