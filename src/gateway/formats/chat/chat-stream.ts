// One chat stream: chunks of an upstream, and the chunks that we write at its end.

import type { BilledUsage } from "../../metering/bill.ts";
import type { JsonObject } from "../../request/field-rules.ts";
import { Frames } from "../../stream/frames.ts";
import { eventOf } from "../../stream/sse.ts";
import type { AnswerPart, AnswerStream, ReadEvent, Unstreamed } from "../answer-format.ts";
import type { ShownNames } from "../shown-format.ts";
import { CHAT_FRAMES } from "./chat-frames.ts";
import { billedUsageChunk, lengthChunks } from "./own-chunks.ts";
import { readChunk } from "./read-chunk.ts";
import { shareOfChunk, shownChunk, usageChunkOf } from "./shown-chunk.ts";
import { readUnstreamedChat } from "./unstreamed-chat.ts";

export class ChatStream implements AnswerStream {
  readonly frames: Frames;
  readonly #names: ShownNames;
  readonly #wantsUsage: boolean;
  #lastChunk: JsonObject = {};
  /** The upstream's own usage chunk, safe to write again. */
  #usageChunk: string | null = null;

  constructor({ names, wantsUsage }: { readonly names: ShownNames; readonly wantsUsage: boolean }) {
    this.frames = new Frames(names, CHAT_FRAMES);
    this.#names = names;
    this.#wantsUsage = wantsUsage;
  }

  read(event: Buffer): ReadEvent {
    return readChunk(event);
  }

  show(read: ReadEvent, part: AnswerPart): Buffer | null {
    const { event, data } = read;
    const shown = shownChunk({ event, data, chunk: part.object }, this.#names);
    if (shown === null) return null;
    this.#lastChunk = part.object;
    if (shown.source !== null && isPlain(read, part)) this.frames.learn(event, shown.source.at, shown.source.json);
    return shown.event;
  }

  keepUsage({ data }: ReadEvent): void {
    this.#usageChunk = usageChunkOf(data, this.#names);
  }

  showShare(part: AnswerPart, share: number): Buffer | null {
    return shareOfChunk(part.object, share, this.#names);
  }

  readUnstreamed(json: Buffer): Unstreamed {
    const unstreamed = readUnstreamedChat(json, this.#names);
    if (unstreamed.kind === "answer") this.#lastChunk = unstreamed.part.object;
    return unstreamed;
  }

  complete(held: readonly Buffer[], billed: BilledUsage): Buffer {
    return Buffer.concat([...held, ...this.#usageEvents(this.#usageChunk, billed)]);
  }

  stop(unfinished: readonly number[], billed: BilledUsage): Buffer {
    const ends = lengthChunks(this.#names, this.#lastChunk, unfinished);
    return Buffer.concat([...ends.map(eventOf), ...this.#usageEvents(null, billed)]);
  }

  #usageEvents(usageChunk: string | null, billed: BilledUsage): Buffer[] {
    if (!this.#wantsUsage) return [];
    return [eventOf(billedUsageChunk(this.#names, { lastChunk: this.#lastChunk, usageChunk }, billed))];
  }
}

/** Whether a chunk has nothing but a piece of text, so that others of its frame have nothing else either. */
function isPlain({ text, size }: ReadEvent, { usage, choices, finished }: AnswerPart): boolean {
  return text !== "" && usage === null && choices.length === 1 && finished.length === 0 && !size.hasMedia;
}
