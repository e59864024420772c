// Keeps the relayed output of a stream within its hold. A slab of output is held at first. Before it runs out the hold is
// extended in the background, and output beyond it waits.
//
// For each packet only bytes of text are counted: two of them make a token, as in the estimate of the input. When little room
// is left, the tokenizer counts the relayed output, and that count is held and recorded. The tokens of sound and pictures are
// unknown, so they are not relayed before the whole bound of the request is held.

import { setTimeout as sleep } from "node:timers/promises";
import { InsufficientBalance, ServiceBusy } from "../../kernel/errors.ts";
import { type BudgetExceeded, budgetExceeded } from "../../kernel/key-limit-errors.ts";
import { idr } from "../../kernel/money.ts";
import type { Extension } from "../../ledger/ledger.ts";
import type { ExtensionAmounts } from "../metering/bill.ts";
import { countTokens } from "../metering/estimate.ts";
import { amountCovering, coveredOutput, type HoldPlan, LEAST_USEFUL_TOKENS, SLAB_TOKENS } from "../admission/hold.ts";
import type { RelayedOutput } from "../metering/relayed-output.ts";
import type { OutputSize } from "./output-limit.ts";

const BYTES_PER_TOKEN = 2;
/** With less room than this the hold is extended, so that the room is there before it is needed. */
const LOW_WATER_BYTES = (SLAB_TOKENS / 2) * BYTES_PER_TOKEN;
/** How long a stream waits for other requests of the account to release their holds. */
const PATIENCE_MS = 10_000;
const ASK_AGAIN_MS = 500;
export type SlabFacts = {
  readonly plan: HoldPlan;
  /** Micro-rupiah that admission has granted. */
  readonly granted: bigint;
  readonly output: RelayedOutput;
  /** Asks the ledger for more, with the tokens relayed so far. */
  readonly extend: (more: ExtensionAmounts) => Promise<Extension>;
  readonly topUpUrl?: (() => string) | undefined;
  readonly patienceMs?: number;
  /** Contains the gate while its stream waits. */
  readonly waiting?: Set<unknown>;
};

export class SlabGate {
  readonly #facts: SlabFacts;
  readonly #closing = new AbortController();
  /** Tokens that the hold covers. */
  #covered: number;
  /** Bytes of text that may still go out, and with how many left more is asked for. */
  #room: number;
  #askBelow: number;
  #passed = 0;
  #asking: Promise<unknown> | null = null;

  constructor(facts: SlabFacts) {
    this.#facts = facts;
    this.#covered = coveredOutput(facts.plan, facts.granted);
    this.#room = this.#covered * BYTES_PER_TOKEN;
    this.#askBelow = Math.min(LOW_WATER_BYTES, this.#room / 2);
    this.#openIfAllIsHeld();
  }

  /** Whether so much may go out now. Else it has to wait until `whenOpen`. */
  covers(size: OutputSize): boolean {
    return this.#room === Infinity || (!size.hasMedia && bytesOf(size) <= this.#room);
  }

  /** Counts output that is sent. */
  take(size: OutputSize): void {
    if (this.#room === Infinity) return;
    const bytes = bytesOf(size);
    this.#room -= bytes;
    this.#passed += bytes;
    if (this.#asking === null && this.#room < this.#askBelow) this.#askAhead();
  }

  /**
   * Waits until so much may go out. Errors: InsufficientBalance when the balance does not cover it, BudgetExceeded when a
   * budget of the key does not, ServiceBusy when the database stays away or another process has resolved the hold.
   */
  async whenOpen(size: OutputSize): Promise<void> {
    const { outputBound } = this.#facts.plan;
    this.#facts.waiting?.add(this);
    try {
      await this.#open(size.hasMedia ? outputBound * BYTES_PER_TOKEN : bytesOf(size));
    } finally {
      this.#facts.waiting?.delete(this);
    }
  }

  async #open(bytes: number): Promise<void> {
    const until = performance.now() + (this.#facts.patienceMs ?? PATIENCE_MS);
    await this.#asking;
    for (;;) {
      const refusal = await this.#ask(bytes);
      if (refusal === null) return;
      if (!refusal.othersHold || performance.now() > until) throw this.#tooLow(refusal);
      await sleep(ASK_AGAIN_MS, undefined, { signal: this.#closing.signal });
    }
  }

  /** The share of a text that the hold still covers, from 0 to 1. */
  async shareOf(text: string): Promise<number> {
    const left = this.#covered - (await this.#facts.output.estimateTokens());
    let part = left > 0 ? text : "";
    for (;;) {
      const tokens = await countTokens(part);
      if (tokens <= left || part === "") return text === "" ? 0 : part.length / text.length;
      // The tokens of a text are not spread evenly over it.
      part = part.slice(0, Math.floor((part.length * left) / tokens));
    }
  }

  /** Nothing more goes out: nothing more is asked for. */
  close(): void {
    this.#closing.abort();
  }

  /** Extends the hold before it is needed. A failure here is ignored: a stream that has to wait asks again and fails. */
  #askAhead(): void {
    if (this.#closing.signal.aborted) return;
    this.#asking = Promise.resolve()
      .then(() => this.#ask(0))
      .catch(() => (this.#askBelow = 0))
      .finally(() => (this.#asking = null));
  }

  /** Makes room for so many bytes; returns the refusal where the balance does not allow it. */
  async #ask(bytes: number): Promise<Refusal | null> {
    const { plan, output, extend } = this.#facts;
    const passedBefore = this.#passed;
    const counted = await output.estimateTokens();
    this.#setRoom(counted, passedBefore);
    if (this.#room >= Math.max(bytes, this.#askBelow)) return null;
    const needed = counted + Math.ceil(bytes / BYTES_PER_TOKEN);
    // Ahead of need a few tokens are not worth an extension. A stream that waits takes any number that lets it go on.
    const least = bytes > 0 ? needed : this.#covered + LEAST_USEFUL_TOKENS;
    const most = Math.max(needed + SLAB_TOKENS, least);
    const amounts = {
      amount: amountCovering(plan, Math.min(most, plan.outputBound)),
      leastAmount: amountCovering(plan, Math.min(least, plan.outputBound)),
    };
    const extension = await extend({ ...amounts, outputTokens: counted });
    if (extension.outcome === "gone") throw new ServiceBusy(undefined, { cause: new Error("the hold is gone") });
    if (extension.outcome !== "granted") {
      this.#askBelow = 0;
      return { ...extension, needed: amounts.leastAmount };
    }
    this.#covered = coveredOutput(plan, extension.amount);
    this.#setRoom(counted, passedBefore);
    this.#askBelow = Math.min(LOW_WATER_BYTES, this.#room / 2);
    this.#openIfAllIsHeld();
    return null;
  }

  /** The room of the hold beyond the counted tokens, less the output that was sent since the count. */
  #setRoom(counted: number, passedBefore: number): void {
    this.#room = (this.#covered - counted) * BYTES_PER_TOKEN - (this.#passed - passedBefore);
  }

  /** Nothing can cost more than the bound of the request. */
  #openIfAllIsHeld(): void {
    if (this.#covered >= this.#facts.plan.outputBound) this.#room = Infinity;
  }

  /** What is held for the request is all that is available to it, or left of a budget. */
  #tooLow(refusal: Refusal): InsufficientBalance | BudgetExceeded {
    const { amount, needed } = refusal;
    if (refusal.outcome === "over_budget") {
      const { of, resetsAt } = refusal;
      return budgetExceeded(of, { left: idr(amount), needed: idr(needed), resetsAt });
    }
    const facts = { available: idr(amount), needed: idr(needed) };
    const topUpUrl = this.#facts.topUpUrl?.();
    return new InsufficientBalance(topUpUrl === undefined ? facts : { ...facts, topUpUrl });
  }
}

type Refusal = Extract<Extension, { readonly othersHold: boolean }> & { readonly needed: bigint };

/** Each event with text counts as a token at least. */
function bytesOf({ asciiBytes, otherBytes, events }: OutputSize): number {
  return Math.max(asciiBytes + otherBytes, events * BYTES_PER_TOKEN);
}
