// Keeps thousands of streams at a steady pace with one timer per pace instead of one per stream.

/** Does one step of a stream; false when the stream is over. */
type Step = () => boolean;

// Streams are spread over this many moments of one delay, so that they do not all fire in the same tick.
const PHASES = 8;

/** Runs each added step once per delay until the step reports its end. */
export class ChunkPacer {
  readonly #wheels = new Map<number, Wheel>();

  /** Takes the first step at once and the next ones every `delayMs`; with a delay of 0 all of them at once. */
  add(delayMs: number, step: Step): void {
    if (delayMs <= 0) {
      while (step());
      return;
    }
    if (!step()) return;
    let wheel = this.#wheels.get(delayMs);
    if (wheel === undefined) {
      wheel = new Wheel(delayMs);
      this.#wheels.set(delayMs, wheel);
    }
    wheel.add(step);
  }
}

class Wheel {
  readonly #phases: Set<Step>[] = Array.from({ length: PHASES }, () => new Set());
  readonly #phaseMs: number;
  readonly #startedAt = performance.now();
  #turned = 0;

  constructor(delayMs: number) {
    this.#phaseMs = delayMs / PHASES;
    setInterval(() => this.#turn(), Math.max(1, this.#phaseMs));
  }

  add(step: Step): void {
    // The phase that was just served comes round again one whole delay from now.
    this.#phase(this.#turned - 1 + PHASES).add(step);
  }

  // Timers fire late on a busy machine. Catching up keeps the requested rate, so that a slow gateway cannot slow the
  // upstream down and look cheap.
  #turn(): void {
    const due = Math.floor((performance.now() - this.#startedAt) / this.#phaseMs);
    while (this.#turned < due) {
      const phase = this.#phase(this.#turned++);
      for (const step of phase) if (!step()) phase.delete(step);
    }
  }

  #phase(index: number): Set<Step> {
    const phase = this.#phases[index % PHASES];
    if (phase === undefined) throw new Error("a wheel has all its phases");
    return phase;
  }
}
