import type { DomainError } from "../../kernel/errors.ts";
import { CallerQueue } from "../caller-queue.ts";
import type { StreamEnding } from "../chat.ts";
import type { ShownFormat } from "../formats/shown-format.ts";
import { parseObject } from "../request/parse-object.ts";
import type { ProtocolEvent } from "./protocol.ts";
import type { ProtocolOutput } from "./translated-sink.ts";

/** The output for callers of an RPC, who take events as fast as they can. */
export class RpcOutput implements ProtocolOutput {
  readonly #queue: CallerQueue<object>;
  readonly #hasErrorEvents: boolean;
  #body: object | null = null;

  /** `hasErrorEvents`: whether the answer's messages can hold an error. Where they cannot, a stream that fails ends with its error. */
  constructor(signal: AbortSignal, { hasErrorEvents = true } = {}) {
    this.#queue = new CallerQueue(signal);
    this.#hasErrorEvents = hasErrorEvents;
  }

  /** The answer that is not streamed; null where the gateway ended without one, because the caller had left. */
  get wholeAnswer(): object | null {
    return this.#body;
  }

  /** The data of each event of the work's answer. Errors: those of the work before its answer has begun, and of a stream without error events. */
  async *eventsOf(work: Promise<unknown>): AsyncGenerator<object> {
    this.#queue.follow(work);
    try {
      yield* this.#queue.taken();
    } finally {
      this.#queue.leave();
    }
  }

  answer(_head: unknown, { body }: { readonly body: object }): void {
    this.#body = body;
  }

  passAnswer(_head: unknown, { json }: { readonly json: Buffer }): void {
    this.#body = parseObject(json.toString("utf8"));
  }

  begin(): void {}

  write(events: readonly ProtocolEvent[]): boolean {
    return this.#queue.add(events.map(({ data }) => data));
  }

  pass(bytes: Buffer, format: ShownFormat): boolean {
    const parts = format.chunksIn(bytes).map(parseObject);
    return this.#queue.add(parts.filter((part) => part !== null));
  }

  keepAlive(): void {}

  end(events: readonly ProtocolEvent[], error?: DomainError): void {
    const isThrown = error !== undefined && !this.#hasErrorEvents;
    this.write(isThrown ? events.filter(({ data }) => !("error" in data)) : events);
    this.#queue.stop(isThrown ? error : null);
  }

  endPassed({ passed, format }: StreamEnding): void {
    this.pass(passed, format);
    this.#queue.stop(null);
  }

  onDrained(callback: () => void): void {
    this.#queue.onDrained(callback);
  }

  onGone(callback: () => void): void {
    this.#queue.onGone(callback);
  }
}
