import { isOutOfMoney } from "../../kernel/key-limit-errors.ts";
import type { ReadEvent } from "../formats/answer-format.ts";
import type { StopCause } from "./answer-end.ts";
import type { OutputLimit, OutputSize } from "./output-limit.ts";
import type { SlabGate } from "./slab-gate.ts";

/** Why an event may not go out, and the share of its text that still may, from 0 to 1. */
export type Stop = { readonly cause: StopCause; readonly share: number };

export type OutputGateFacts = {
  readonly limit: OutputLimit;
  /** Null: all that the answer can cost is held. */
  readonly gate: SlabGate | null;
};

/** All output passes this gate: it has to be within the bound of the request, and within its hold. */
export class OutputGate {
  readonly #facts: OutputGateFacts;
  #hasLeft = false;

  constructor(facts: OutputGateFacts) {
    this.#facts = facts;
  }

  /** Whether so much may go out now. `isWhole`: the answer came in one piece, and cannot be ended in the middle. */
  covers(size: OutputSize, isWhole = false): boolean {
    const { limit, gate } = this.#facts;
    // Output without a reader is not counted; the time of a drain bounds it.
    return (isWhole || this.#hasLeft || limit.covers(size)) && gate?.covers(size) !== false;
  }

  /** Counts output that is sent. */
  take(size: OutputSize): void {
    this.#facts.limit.take(size);
    this.#facts.gate?.take(size);
  }

  /** Waits until an event may go out. Null: it may. */
  async whenOpen({ text, size }: ReadEvent, isWhole: boolean): Promise<Stop | null> {
    const { limit, gate } = this.#facts;
    try {
      const share = isWhole || limit.covers(size) ? null : await limit.shareOf(text, size);
      if (share !== null) return { cause: { kind: "limit" }, share };
      if (gate?.covers(size) === false) await gate.whenOpen(size);
      return null;
    } catch (reason) {
      // The hold pays for a part of the event. Where the database is away, it is unknown whether the hold still exists.
      const share = isOutOfMoney(reason) ? await gate?.shareOf(text) : 0;
      return { cause: { kind: "hold", reason }, share: share ?? 0 };
    }
  }

  /** The client has left: nothing more is held. */
  leave(): void {
    this.#hasLeft = true;
    this.close();
  }

  close(): void {
    this.#facts.gate?.close();
  }
}
