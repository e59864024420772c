/** What may come between the end of an answer and the end of its stream. */
const MAX_HELD_BYTES = 1024 * 1024;

/** Knows whether an answer has ended, and keeps its last frames back: clients take it for complete at a finish_reason. */
export class AnswerEnd {
  /** The choices spoken of while it mattered. Not how many were asked for: an upstream may write fewer. */
  readonly #seen = new Set<number>();
  readonly #finished = new Set<number>();
  #frames: Buffer[] = [];
  #bytes = 0;
  #isReached = false;

  /** Whether every choice that was begun has finished. */
  get isReached(): boolean {
    return this.#isReached;
  }

  /** The frames held back. */
  get frames(): readonly Buffer[] {
    return this.#frames;
  }

  /** Notes what a chunk speaks of. */
  note({ choices, finished }: { readonly choices: readonly number[]; readonly finished: readonly number[] }): void {
    for (const index of choices) this.#seen.add(index);
    for (const index of finished) this.#finished.add(index);
    if (this.#finished.size > 0 && this.#finished.size === this.#seen.size) this.#isReached = true;
  }

  /** An answer that is told as one chunk ends with it. */
  reach(): void {
    this.#isReached = true;
  }

  /** Keeps a frame. False: it is too much. */
  keep(frame: Buffer): boolean {
    this.#frames.push(frame);
    this.#bytes += frame.length;
    return this.#bytes <= MAX_HELD_BYTES;
  }

  /** Gives the frames back where what looked like the end of the answer was the end of one choice: another is spoken of. */
  release(choices: readonly number[]): Buffer | null {
    if (!this.#isReached || choices.every((index) => this.#finished.has(index))) return null;
    const frames = Buffer.concat(this.#frames);
    this.#isReached = false;
    this.#frames = [];
    this.#bytes = 0;
    return frames;
  }
}
