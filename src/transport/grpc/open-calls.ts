// The bound on streams that anybody may open and that end when their client likes.

import { UpstreamBusy } from "../../kernel/errors.ts";

/** Counts the calls of one kind that are open. */
export class OpenCalls {
  readonly #most: number;
  #open = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Counts one more, until what it gives is called. Errors: UpstreamBusy where there are as many as there may be. */
  open(): () => void {
    if (this.#open >= this.#most) throw new UpstreamBusy();
    this.#open += 1;
    return () => void (this.#open -= 1);
  }
}
