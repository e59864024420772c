// The bound on streams without credentials, which end when their client ends them.

import { ServiceBusy } from "../../kernel/errors.ts";

/** Counts the calls of one kind that are open. */
export class OpenCalls {
  readonly #most: number;
  #open = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Counts one more, until the returned function is called. Errors: ServiceBusy at the bound. */
  open(): () => void {
    if (this.#open >= this.#most) throw new ServiceBusy();
    this.#open += 1;
    return () => void (this.#open -= 1);
  }
}
