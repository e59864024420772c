import { beginsAsEvents, EventCutter, isBeginOfEvent, MarkRemover, MAX_EVENT_BYTES } from "./sse.ts";

const EMPTY = Buffer.alloc(0);

/** Puts the packets of an answer together: to complete events, or to one JSON text where the upstream does not stream. */
export class IncomingAnswer {
  readonly #mark = new MarkRemover();
  readonly #cutter = new EventCutter();
  readonly #json: Buffer[] = [];
  #jsonBytes = 0;
  /** Null: neither a header nor a byte has shown it. */
  #isEventStream: boolean | null = null;
  /** The same by the bytes alone: headers announce events before a JSON text too. */
  #beginsAsEvents: boolean | null = null;

  /** Whether a part of a JSON text has arrived. */
  get hasJson(): boolean {
    return this.#beginsAsEvents === false;
  }

  /** A header announced events. */
  announceEvents(): void {
    this.#isEventStream = true;
  }

  /** The events that are complete with this packet, null where none is, or why the answer cannot be one. */
  push(packet: Buffer): Buffer | null | "the answer is too large" | "an event is too large" {
    const bytes = this.#mark.push(packet);
    this.#beginsAsEvents ??= beginsAsEvents(bytes);
    this.#isEventStream ??= this.#beginsAsEvents;
    if (this.#isEventStream === null || bytes.length === 0) return null;
    if (!this.#isEventStream) {
      this.#json.push(bytes);
      this.#jsonBytes += bytes.length;
      return this.#jsonBytes > MAX_EVENT_BYTES ? "the answer is too large" : null;
    }
    const events = this.#cutter.push(bytes);
    return this.#cutter.restLength > MAX_EVENT_BYTES ? "an event is too large" : events;
  }

  /** What is left at the end: an event without its blank line, or the JSON text. */
  takeRest(): { readonly event: Buffer | null; readonly json: Buffer } {
    const rest = this.#cutter.takeRest();
    if (rest === null) return { event: null, json: Buffer.concat(this.#json) };
    // Half of a comment is no web page in place of an answer.
    return { event: rest.includes("data") ? rest : null, json: isBeginOfEvent(rest) ? EMPTY : rest };
  }
}
