import type { ChatSink } from "../chat.ts";

/** Tracks whether the client is still connected, and calls back when it leaves. */
export class ClientPresence {
  #isGone = false;
  #stop: (() => void) | null = null;

  constructor(sink: Pick<ChatSink, "onGone">) {
    sink.onGone(() => {
      // An RPC reports it twice: by its signal and by the end of its loop.
      if (this.#isGone) return;
      this.#isGone = true;
      this.#stop?.();
    });
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  /** Sets the callback for the client's leaving, in place of the one before. Null: none. */
  whenGone(stop: (() => void) | null): void {
    this.#stop = stop;
    if (this.#isGone) stop?.();
  }
}
