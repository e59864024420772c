// The base backup that the receiver of the log takes by itself. A large one takes hours, in which its folder has none: that is no alarm as
// long as the first try goes on.

export class MissingBase {
  #begunAt: Date | null = null;
  #hasFailed = false;

  /** It is missing, and a try begins. */
  begin(at = new Date()): void {
    if (!this.#hasFailed) this.#begunAt ??= at;
  }

  /** The try has failed. What follows it may fail as well, so a beginning counts no more until a base backup is there. */
  fail(): void {
    if (this.#begunAt === null) return;
    this.#begunAt = null;
    this.#hasFailed = true;
  }

  /** It is there. */
  end(): void {
    this.#begunAt = null;
    this.#hasFailed = false;
  }

  /** When the first try began, while it goes on. Null: none does. */
  begunAt(): Date | null {
    return this.#begunAt;
  }
}
