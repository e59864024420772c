// Makes PDF files in a thread of its own. The thread starts with the first document and ends when none has been asked for in a while. It has
// one document at a time. What waits is bounded, in all and for each account, and accounts take turns: none keeps others from their files.

import { Worker } from "node:worker_threads";
import { ServiceBusy, TooManyAtOnce } from "../../kernel/errors.ts";
import type { Document } from "./document.ts";
import type { Drawn } from "./drawing-thread.ts";

const MOST_WAITING = 32;
const MOST_OF_ACCOUNT = 4;
const IDLE_MS = 30_000;
const MOST_MEMORY_MB = 256;

/** How long a document may wait for its turn, and be drawn. A page takes some 100 ms: one that takes so long is broken. */
const PATIENCE = { turnWithinMs: 20_000, drawnWithinMs: 20_000 };

type Asked = {
  readonly id: number;
  readonly accountId: string;
  readonly document: Document;
  readonly resolve: (file: Uint8Array) => void;
  readonly reject: (error: Error) => void;
  timer: NodeJS.Timeout | undefined;
};

export class PdfMaker {
  readonly #patience: typeof PATIENCE;
  readonly #program: URL;
  /** What waits, by account. The account whose turn is next is the first. */
  readonly #waiting = new Map<string, Asked[]>();
  #drawn: Asked | undefined;
  #thread: Worker | undefined;
  #idle: NodeJS.Timeout | undefined;
  #last = 0;

  /** A test gives the program of the thread, and less patience. */
  constructor({ program = new URL("drawing-thread.ts", import.meta.url), ...patience }: Partial<Options> = {}) {
    this.#program = program;
    this.#patience = { ...PATIENCE, ...patience };
  }

  /**
   * Makes the file of a document. Errors: TooManyAtOnce where the account waits for several already; ServiceBusy where too many
   * documents wait, or this one has waited too long for its turn.
   */
  async make(accountId: string, document: Document): Promise<Uint8Array> {
    const own = this.#waiting.get(accountId) ?? [];
    if (own.length + (this.#drawn?.accountId === accountId ? 1 : 0) >= MOST_OF_ACCOUNT)
      throw new TooManyAtOnce(TOO_MANY);
    if (this.#allWaiting().length >= MOST_WAITING) throw new ServiceBusy();
    clearTimeout(this.#idle);
    return new Promise((resolve, reject) => {
      const asked: Asked = { id: (this.#last += 1), accountId, document, resolve, reject, timer: undefined };
      asked.timer = setTimeout(() => this.#refuse(asked), this.#patience.turnWithinMs).unref();
      this.#waiting.set(accountId, [...own, asked]);
      this.#drawNext();
    });
  }

  /** Ends the thread, and refuses what waits. */
  async close(): Promise<void> {
    clearTimeout(this.#idle);
    for (const asked of this.#allWaiting()) this.#refuse(asked);
    const thread = this.#thread;
    if (thread === undefined) return;
    this.#fail(thread, new ServiceBusy());
    await thread.terminate();
  }

  #allWaiting(): Asked[] {
    return [...this.#waiting.values()].flat();
  }

  /** Draws the first document of the account whose turn it is; the next turn is another account's. */
  #drawNext(): void {
    if (this.#drawn !== undefined) return;
    const [turn] = this.#waiting;
    if (turn === undefined) {
      this.#idle = setTimeout(() => this.#end(), IDLE_MS).unref();
      return;
    }
    const [accountId, [asked, ...others]] = turn;
    this.#waiting.delete(accountId);
    if (others.length > 0) this.#waiting.set(accountId, others);
    if (asked === undefined) return;
    const thread = (this.#thread ??= this.#start());
    this.#drawn = asked;
    clearTimeout(asked.timer);
    const late = () => this.#fail(thread, new Error("a document was not drawn in time"));
    asked.timer = setTimeout(late, this.#patience.drawnWithinMs).unref();
    thread.postMessage({ id: asked.id, document: asked.document }, []);
  }

  #start(): Worker {
    const thread = new Worker(this.#program, { resourceLimits: { maxOldGenerationSizeMb: MOST_MEMORY_MB } });
    // It keeps no process alive.
    thread.unref();
    thread.on("message", (drawn: Drawn) => this.#settle(drawn));
    thread.on("error", (error: Error) => this.#fail(thread, error));
    thread.on("exit", () => this.#fail(thread, new Error("the thread that draws documents has ended")));
    return thread;
  }

  #settle({ id, file, error }: Drawn): void {
    const asked = this.#drawn;
    if (asked === undefined || asked.id !== id) return;
    this.#drawn = undefined;
    clearTimeout(asked.timer);
    if (file === undefined) asked.reject(new Error(`a document could not be drawn: ${error ?? ""}`));
    else asked.resolve(file);
    this.#drawNext();
  }

  /** Refuses a document that waits. */
  #refuse(asked: Asked): void {
    clearTimeout(asked.timer);
    const others = (this.#waiting.get(asked.accountId) ?? []).filter((each) => each !== asked);
    if (others.length > 0) this.#waiting.set(asked.accountId, others);
    else this.#waiting.delete(asked.accountId);
    asked.reject(new ServiceBusy());
  }

  #end(): void {
    const thread = this.#thread;
    this.#thread = undefined;
    void thread?.terminate();
  }

  /** Ends a thread that failed, and the document that it drew. What waits is drawn by another thread. */
  #fail(thread: Worker, error: Error): void {
    if (this.#thread !== thread) return;
    this.#end();
    const asked = this.#drawn;
    this.#drawn = undefined;
    clearTimeout(asked?.timer);
    asked?.reject(error);
    this.#drawNext();
  }
}

type Options = typeof PATIENCE & { readonly program: URL };

const TOO_MANY = `This account waits for ${MOST_OF_ACCOUNT} files already. Try again when one of them is done.`;
