// The bill of one admitted request. A hold was placed for it, so it is settled exactly once on every path, also when the
// code around it throws.

import { costOf, type TokenCounts } from "../billing/cost.ts";
import { billingDay, type Clock } from "../kernel/clock.ts";
import { invariant } from "../kernel/invariant.ts";
import type { Ledger, SettledUsage, UsageBasis } from "../ledger/ledger.ts";
import type { ChatCall } from "./chat.ts";
import { estimateInput } from "./estimate.ts";
import type { HoldPlan } from "./hold.ts";
import { readUsage } from "./usage.ts";

/** Who answered, as far as it is known. */
export type AnsweredBy = {
  readonly upstream: string;
  readonly upstreamModel: string;
  readonly upstreamRequestId: string | null;
};

/** What was billed, as the last usage object of an answer tells it. */
export type BilledUsage = {
  readonly counts: TokenCounts;
  readonly basis: UsageBasis;
  readonly clamped: boolean;
  readonly settled: SettledUsage;
};

const NOTHING: TokenCounts = { inputTokensUncached: 0, inputTokensCached: 0, outputTokens: 0 };

export type BillFacts = {
  readonly call: ChatCall;
  readonly plan: HoldPlan;
  readonly streamed: boolean;
  readonly ledger: Pick<Ledger, "settle">;
  readonly clock: Clock;
};

export class Bill {
  readonly #facts: BillFacts;
  #answeredBy: AnsweredBy | null = null;
  #firstByteMs: number | null = null;
  #isSettled = false;

  constructor(facts: BillFacts) {
    this.#facts = facts;
  }

  get isSettled(): boolean {
    return this.#isSettled;
  }

  answeredBy(answeredBy: AnsweredBy): void {
    this.#answeredBy = answeredBy;
  }

  firstByteReached(): void {
    this.#firstByteMs ??= this.#elapsedMs();
  }

  /**
   * Settles a completed answer by the upstream's usage, or by an estimate where that cannot be used. `estimateOutput` is
   * asked only then. Errors: UpstreamBusy when the database stays away.
   */
  async settleCompleted(usage: unknown, estimateOutput: () => Promise<number>): Promise<BilledUsage> {
    const { plan } = this.#facts;
    const reading = readUsage(usage, { input: plan.inputBound, output: plan.outputBound * plan.choices });
    if (reading === null) return this.settleEstimated(estimateOutput);
    return this.#settle(reading.counts, "exact", reading.clamped);
  }

  /** Settles what was delivered of an answer whose usage nobody said. Errors: UpstreamBusy. */
  async settleEstimated(estimateOutput: () => Promise<number>): Promise<BilledUsage> {
    const { plan, call } = this.#facts;
    const input = await estimateInput(call.body);
    const output = await estimateOutput();
    const counts = {
      inputTokensUncached: Math.min(input, plan.inputBound),
      inputTokensCached: 0,
      outputTokens: Math.min(output, plan.outputBound * plan.choices),
    };
    return this.#settle(counts, "estimated", false);
  }

  /** Settles a request that delivered nothing: nothing is charged. Errors: UpstreamBusy. */
  async settleFree(): Promise<BilledUsage> {
    return this.#settle(NOTHING, "free", false);
  }

  async #settle(counts: TokenCounts, basis: UsageBasis, clamped: boolean): Promise<BilledUsage> {
    invariant(!this.#isSettled, "a hold is settled once");
    this.#isSettled = true;
    const { call, plan, streamed, ledger, clock } = this.#facts;
    const settled = await ledger.settle({
      accountId: call.key.accountId,
      requestId: call.requestId,
      cost: costOf(counts, plan.prices),
      ...counts,
      basis,
      billingDay: billingDay(clock.now()),
      upstream: this.#answeredBy?.upstream ?? null,
      upstreamModel: this.#answeredBy?.upstreamModel ?? null,
      upstreamRequestId: this.#answeredBy?.upstreamRequestId ?? null,
      upstreamCost: null,
      streamed,
      durationMs: this.#elapsedMs(),
      firstByteMs: this.#firstByteMs,
      clamped,
    });
    return { counts, basis, clamped, settled };
  }

  #elapsedMs(): number {
    return Math.max(0, Math.round(this.#facts.clock.now() - this.#facts.call.receivedAtMs));
  }
}
