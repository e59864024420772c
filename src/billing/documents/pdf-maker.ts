// Makes PDF files in a thread of its own. The thread starts with the first document and ends when none has been asked for in a while. What
// waits is bounded, in all and for each account, so that no account keeps others from their files.

import { Worker } from "node:worker_threads";
import { LimitExceeded, ServiceBusy } from "../../kernel/errors.ts";
import type { Document } from "./document.ts";
import type { Drawn } from "./drawing-thread.ts";

const MOST_WAITING = 32;
const MOST_OF_ACCOUNT = 4;
/** A page takes some 100 ms. A document that takes so long is broken. */
const DRAWN_WITHIN_MS = 20_000;
const IDLE_MS = 30_000;
const MOST_MEMORY_MB = 256;

type Waiting = {
  readonly accountId: string;
  readonly timer: NodeJS.Timeout;
  readonly resolve: (file: Uint8Array) => void;
  readonly reject: (error: Error) => void;
};

export class PdfMaker {
  readonly #waiting = new Map<number, Waiting>();
  #thread: Worker | undefined;
  #idle: NodeJS.Timeout | undefined;
  #last = 0;

  /**
   * Makes the file of a document. Errors: LimitExceeded where the account waits for several already; ServiceBusy where too many do.
   */
  make(accountId: string, document: Document): Promise<Uint8Array> {
    const ofAccount = [...this.#waiting.values()].filter((each) => each.accountId === accountId).length;
    if (ofAccount >= MOST_OF_ACCOUNT)
      throw new LimitExceeded(`No more than ${MOST_OF_ACCOUNT} files are made at a time.`);
    if (this.#waiting.size >= MOST_WAITING) throw new ServiceBusy();
    clearTimeout(this.#idle);
    const thread = (this.#thread ??= this.#start());
    const id = (this.#last += 1);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => this.#fail(thread, new Error("a document was not drawn in time")),
        DRAWN_WITHIN_MS,
      );
      timer.unref();
      this.#waiting.set(id, { accountId, timer, resolve, reject });
      thread.postMessage({ id, document }, []);
    });
  }

  /** Ends the thread. */
  async close(): Promise<void> {
    clearTimeout(this.#idle);
    const thread = this.#thread;
    if (thread === undefined) return;
    this.#fail(thread, new ServiceBusy());
    await thread.terminate();
  }

  #start(): Worker {
    const resourceLimits = { maxOldGenerationSizeMb: MOST_MEMORY_MB };
    const thread = new Worker(new URL("drawing-thread.ts", import.meta.url), { resourceLimits });
    // It keeps no process alive.
    thread.unref();
    thread.on("message", (drawn: Drawn) => this.#settle(drawn));
    thread.on("error", (error: Error) => this.#fail(thread, error));
    thread.on("exit", () => this.#fail(thread, new Error("the thread that draws documents has ended")));
    return thread;
  }

  #settle({ id, file, error }: Drawn): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    this.#waiting.delete(id);
    clearTimeout(waiting.timer);
    if (file === undefined) waiting.reject(new Error(`a document could not be drawn: ${error ?? ""}`));
    else waiting.resolve(file);
    if (this.#waiting.size > 0) return;
    this.#idle = setTimeout(() => this.#end(), IDLE_MS);
    this.#idle.unref();
  }

  #end(): void {
    const thread = this.#thread;
    this.#thread = undefined;
    void thread?.terminate();
  }

  /** Ends a thread that failed, and everything that waits for it. The next document starts another. */
  #fail(thread: Worker, error: Error): void {
    if (this.#thread !== thread) return;
    this.#end();
    for (const waiting of this.#waiting.values()) {
      clearTimeout(waiting.timer);
      waiting.reject(error);
    }
    this.#waiting.clear();
  }
}
