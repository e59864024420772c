// The bill of one admitted request. A hold was placed for it, so it is settled exactly once on every path, also when the
// code around it throws.

import { costOf, type TokenCounts } from "../billing/cost.ts";
import type { RouteCost } from "../catalog/catalog.ts";
import { billingDay, type Clock } from "../kernel/clock.ts";
import { failpoint } from "../kernel/failpoint.ts";
import { timeOfUuidv7 } from "../kernel/ids.ts";
import { invariant } from "../kernel/invariant.ts";
import type { Extension, Ledger, SettledUsage, Settlement, UsageBasis } from "../ledger/ledger.ts";
import type { ChatCall } from "./chat.ts";
import { estimateInput } from "./estimate.ts";
import type { HoldPlan } from "./hold.ts";
import type { ChatRequest } from "./request/read-request.ts";
import { readUsage, type UsageBounds } from "./usage.ts";

/** Who answered, as far as it is known. */
export type AnsweredBy = {
  readonly upstream: string;
  readonly upstreamModel: string;
  readonly upstreamRequestId: string | null;
  /** What it charges us per 1M tokens; null where nobody has said so. */
  readonly cost: RouteCost | null;
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
  readonly request: ChatRequest;
  readonly plan: HoldPlan;
  /** The cap that was sent in place of the plan's bound, null where none was. */
  readonly outputCap: number | null;
  readonly ledger: Pick<Ledger, "settle" | "extend">;
  readonly clock: Clock;
};

/** What is to be held in all, at most and at least, and what was relayed of the output. */
export type ExtensionAmounts = {
  readonly amount: bigint;
  readonly leastAmount: bigint;
  readonly outputTokens: number;
};

export class Bill {
  readonly #facts: BillFacts;
  #answeredBy: AnsweredBy | null = null;
  #firstByteMs: number | null = null;
  #isSettled = false;
  #hasFailed = false;
  #inputEstimate: Promise<number> | null = null;

  constructor(facts: BillFacts) {
    this.#facts = facts;
  }

  get isSettled(): boolean {
    return this.#isSettled;
  }

  /** Whether the settlement was tried and failed: recovery then sweeps the hold. */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  answeredBy(answeredBy: AnsweredBy): void {
    this.#answeredBy = answeredBy;
  }

  firstByteReached(): void {
    this.#firstByteMs ??= this.#elapsedMs();
  }

  /** Asks for more to be held, and records that so much of the output was relayed. Errors: UpstreamBusy. */
  async extend({ outputTokens, ...amounts }: ExtensionAmounts): Promise<Extension> {
    const { accountId } = this.#facts.call.key;
    const { requestId } = this.#facts.call;
    const inputTokens = await this.#estimateInput();
    return this.#facts.ledger.extend({ accountId, requestId, ...amounts, inputTokens, outputTokens });
  }

  /**
   * Settles a completed answer by the upstream's usage, or by an estimate where that cannot be used. `estimateOutput` tells
   * what was relayed and is asked only then. `drained`: the client has not waited for the end. Errors: UpstreamBusy when the
   * database stays away.
   */
  async settleCompleted(
    { usage, drained }: { readonly usage: unknown; readonly drained: boolean },
    estimateOutput: () => Promise<number>,
  ): Promise<BilledUsage> {
    failpoint?.("after-usage");
    const reading = readUsage(usage, this.#bounds());
    if (reading === null) return this.settleEstimated(estimateOutput);
    const { counts, clamped } = reading;
    // A request always has input. Zero is what an upstream says that does not count.
    if (counts.inputTokensUncached + counts.inputTokensCached === 0)
      return this.#settleEstimate(estimateOutput, clamped);
    if (counts.outputTokens === 0) {
      const delivered = await estimateOutput();
      if (delivered > 0) return this.#settleEstimate(() => Promise.resolve(delivered), clamped);
    }
    return this.#settle(counts, drained ? "drained" : "exact", clamped);
  }

  /** Settles what was delivered of an answer whose usage nobody said. Errors: UpstreamBusy. */
  async settleEstimated(estimateOutput: () => Promise<number>): Promise<BilledUsage> {
    return this.#settleEstimate(estimateOutput, false);
  }

  /** Settles a request that delivered nothing: nothing is charged. Errors: UpstreamBusy. */
  async settleFree(): Promise<BilledUsage> {
    return this.#settle(NOTHING, "free", false);
  }

  /** `clamped`: the upstream did say something, and it was impossible. */
  async #settleEstimate(estimateOutput: () => Promise<number>, clamped: boolean): Promise<BilledUsage> {
    const counts = {
      inputTokensUncached: await this.#estimateInput(),
      inputTokensCached: 0,
      outputTokens: Math.min(await estimateOutput(), this.#bounds().output),
    };
    return this.#settle(counts, "estimated", clamped);
  }

  #estimateInput(): Promise<number> {
    const { request, plan } = this.#facts;
    const bound = this.#bounds().input;
    this.#inputEstimate ??= estimateInput(request).then((tokens) => Math.min(tokens + plan.mediaTokens, bound));
    return this.#inputEstimate;
  }

  /** No honest count is larger: the upstream saw no more input, and was told to write no more. */
  #bounds(): UsageBounds {
    const { plan, outputCap } = this.#facts;
    return { input: plan.inputBound, output: (outputCap ?? plan.outputBound) * plan.choices };
  }

  async #settle(counts: TokenCounts, basis: UsageBasis, clamped: boolean): Promise<BilledUsage> {
    invariant(!this.#isSettled, "a hold is settled once");
    this.#isSettled = true;
    const { call, request, plan, ledger } = this.#facts;
    const settlement: Settlement = {
      accountId: call.key.accountId,
      requestId: call.requestId,
      cost: costOf(counts, plan.prices),
      ...counts,
      basis,
      // The id's day, like its partition: a request that runs past midnight is billed on the day it came.
      billingDay: billingDay(timeOfUuidv7(call.requestId)),
      upstream: this.#answeredBy?.upstream ?? null,
      upstreamModel: this.#answeredBy?.upstreamModel ?? null,
      upstreamRequestId: this.#answeredBy?.upstreamRequestId ?? null,
      upstreamCost: upstreamCost(this.#answeredBy, counts),
      streamed: request.stream,
      durationMs: this.#elapsedMs(),
      firstByteMs: this.#firstByteMs,
      clamped,
      // An answer in one piece goes out behind its settlement; a stream that has begun was had in part.
      delivered: request.stream && this.#firstByteMs !== null,
    };
    try {
      failpoint?.("before-settle");
      const settled = await ledger.settle(settlement);
      failpoint?.("after-settle");
      return { counts, basis, clamped, settled };
    } catch (error) {
      this.#hasFailed = true;
      throw error;
    }
  }

  #elapsedMs(): number {
    return Math.max(0, Math.round(this.#facts.clock.now() - this.#facts.call.receivedAtMs));
  }
}

/** What the upstream charges us for these tokens, in micro-rupiah; null where nobody can say. */
function upstreamCost(answeredBy: AnsweredBy | null, counts: TokenCounts): bigint | null {
  return answeredBy === null || answeredBy.cost === null ? null : costOf(counts, answeredBy.cost);
}
