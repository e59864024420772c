import type { ChatSink } from "../chat.ts";

/** Knows whether the client is still there, and tells the one who has to stop when it leaves. */
export class ClientPresence {
  #isGone = false;
  #stop: (() => void) | null = null;

  constructor(sink: Pick<ChatSink, "onGone">) {
    sink.onGone(() => {
      // An RPC tells it twice, by its signal and by the end of its loop.
      if (this.#isGone) return;
      this.#isGone = true;
      this.#stop?.();
    });
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  /** Calls back when the client leaves, in place of who was called before. Null: nobody is. */
  whenGone(stop: (() => void) | null): void {
    this.#stop = stop;
    if (this.#isGone) stop?.();
  }
}
