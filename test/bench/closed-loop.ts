// A fixed number of connections, each sending its next request when the last is answered. The reader parses answers;
// this file counts, and most of a load's own CPU is spent here.

import { connect, type Socket } from "node:net";
import { requestOf, rotateRequests, type RenderedRequest } from "./chat-request.ts";
import { Failures, LoadWindow, type LoadOptions } from "./load-window.ts";
import { quantile, Samples } from "./statistics.ts";

/** Follows the answers of one connection, one after the other. */
export interface AnswerReader {
  readonly ended: boolean;
  /** Why this is not a good answer; null while it is one. */
  readonly problem: string | null;
  restart(): void;
  /** Takes the next bytes, which it must not keep, and returns how many events ended in them. */
  read(bytes: Buffer): number;
}

export type LoadResult<Metered> = {
  /** Good answers that ended in the counted stretch. */
  readonly completed: number;
  /** Good answers altogether, warm-up and drain included: what must have been billed. */
  readonly answered: number;
  /** Events in the counted stretch: chunks of streams; of whole answers there is one each. */
  readonly events: number;
  readonly seconds: number;
  /** From sending a request to the end of its first event. */
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
  readonly failures: Failures;
  /** CPU of the load generator itself. */
  readonly loadCpuSeconds: number;
  readonly metered: Metered;
};

/** Loads a target and returns the result. Never rejects because of a target's answers. */
export async function runClosedLoop<Metered>(
  options: LoadOptions<Metered>,
  { stream, rampSeconds, newReader }: { stream: boolean; rampSeconds: number; newReader: () => AnswerReader },
): Promise<LoadResult<Metered>> {
  const loop = new ClosedLoop(
    options,
    requestOf(options.kind ?? "chat", { stream, bodyKb: options.bodyKb }),
    newReader,
  );
  const stepMs = (rampSeconds * 1000) / options.connections;
  for (let index = 0; index < options.connections; index++) setTimeout(() => loop.open(), index * stepMs);
  const { seconds, cpuSeconds, metered } = await loop.window.pass(options, loop.failures);
  loop.close();
  const sorted = loop.firstEvents.sorted();
  return {
    completed: loop.completed,
    answered: loop.answered,
    events: loop.events,
    seconds,
    p50Ms: quantile(sorted, 0.5),
    p99Ms: quantile(sorted, 0.99),
    failures: loop.failures,
    loadCpuSeconds: cpuSeconds,
    metered,
  };
}

// Reads are sequential and are processed before the next, so one buffer serves all connections.
const READ_BUFFER = Buffer.allocUnsafe(1 << 16);
const RECONNECT_MS = 5;

class ClosedLoop {
  readonly window = new LoadWindow();
  readonly failures = new Failures();
  readonly firstEvents = new Samples();
  completed = 0;
  answered = 0;
  events = 0;
  readonly #address: { readonly host: string; readonly port: number };
  readonly #next: () => RenderedRequest;
  readonly #newReader: () => AnswerReader;
  readonly #sockets = new Set<Socket>();

  constructor(
    options: LoadOptions<unknown>,
    request: { readonly path: string; readonly body: string },
    newReader: () => AnswerReader,
  ) {
    this.#address = { host: options.origin.hostname, port: Number(options.origin.port) };
    this.#next = rotateRequests({ origin: options.origin, keys: options.keys, ...request });
    this.#newReader = newReader;
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  open(): void {
    if (this.window.over || this.failures.tooMany) return;
    const reader = this.#newReader();
    let sentAt = 0;
    let waiting = false;
    let begun = false;
    const send = (): void => {
      if (this.window.over) return;
      reader.restart();
      waiting = true;
      begun = false;
      this.window.inFlight++;
      sentAt = performance.now();
      write(socket, this.#next());
    };
    const fail = (reason: string): void => {
      this.failures.add(reason);
      if (waiting) this.window.inFlight--;
      waiting = false;
      socket.destroy();
    };
    const read = (bytes: Buffer): void => {
      if (!waiting) return fail("bytes after the end of an answer");
      const events = reader.read(bytes);
      if (this.window.counting) this.events += events;
      if (events > 0 && !begun) {
        begun = true;
        if (this.window.counting) this.firstEvents.add(performance.now() - sentAt);
      }
      if (reader.problem !== null) return fail(reader.problem);
      if (!reader.ended) return;
      waiting = false;
      this.window.inFlight--;
      this.answered++;
      if (this.window.counting) this.completed++;
      send();
    };
    const callback = (length: number): boolean => {
      read(READ_BUFFER.subarray(0, length));
      return true;
    };
    const socket = connect({ ...this.#address, noDelay: true, onread: { buffer: READ_BUFFER, callback } });
    this.#sockets.add(socket);
    socket.on("connect", send);
    socket.on("error", (error) => fail(error.message));
    socket.on("close", () => {
      this.#sockets.delete(socket);
      if (waiting) fail("the connection ended before the answer");
      setTimeout(() => this.open(), RECONNECT_MS);
    });
  }
}

function write(socket: Socket, { head, body }: RenderedRequest): void {
  if (body === null) return void socket.write(head);
  socket.cork();
  socket.write(head);
  socket.write(body);
  socket.uncork();
}
