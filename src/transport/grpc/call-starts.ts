// Starts calls a few at a time. Thousands of calls can arrive in one turn of the event loop, and each costs a third of a
// millisecond before its first wait: started at once, they would block all other work for seconds.

/** How many start in one turn of the event loop. */
const MOST_IN_A_TURN = 50;

export class CallStarts {
  readonly #waiting: (() => void)[] = [];
  #started = 0;
  #isTurnAhead = false;

  /** Starts a call now, or in one of the next turns when many start in this one. */
  start(call: () => void): void {
    if (this.#started >= MOST_IN_A_TURN || this.#waiting.length > 0) this.#waiting.push(call);
    else this.#startNow(call);
    if (this.#isTurnAhead) return;
    this.#isTurnAhead = true;
    setImmediate(() => this.#turn());
  }

  #startNow(call: () => void): void {
    this.#started += 1;
    call();
  }

  #turn(): void {
    this.#started = 0;
    this.#isTurnAhead = false;
    for (const call of this.#waiting.splice(0, MOST_IN_A_TURN)) this.#startNow(call);
    if (this.#waiting.length === 0 || this.#isTurnAhead) return;
    this.#isTurnAhead = true;
    setImmediate(() => this.#turn());
  }
}
