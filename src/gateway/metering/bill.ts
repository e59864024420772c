// The bill of one admitted request. A hold was placed for it, so it is settled exactly once on every path, also when the
// code around it throws.

import { costOf, inputTokensOf, type TokenCounts } from "../../billing/cost.ts";
import type { RouteCost } from "../../catalog/catalog-model.ts";
import { billingDay, type Clock } from "../../kernel/clock.ts";
import { failpoint } from "../../kernel/failpoint.ts";
import { timeOfUuidv7 } from "../../kernel/ids.ts";
import { invariant } from "../../kernel/invariant.ts";
import type { Extension, Ledger, RequestFailure, SettledUsage, Settlement, UsageBasis } from "../../ledger/ledger.ts";
import { traced, type TraceSpan } from "../../kernel/tracing.ts";
import { firstChunkAttributes, usageAttributes } from "../answer/span-attributes.ts";
import type { ChatCall } from "../chat.ts";
import type { BilledRequest } from "./billed-request.ts";
import { CHAT_USAGE } from "./chat-usage.ts";
import { countTokens } from "./estimate.ts";
import { type HoldPlan, usageBounds } from "../admission/hold.ts";
import { LostAttempts } from "./lost-attempts.ts";
import { meter, type Metered, type MeterFacts, type UsageBounds } from "./meter.ts";
import type { RelayedTokens } from "./relayed-tokens.ts";
import { NOTHING_RELAYED } from "./relayed-answer.ts";
import { type PromptMemory, promptMemory, type PromptPlace } from "./prompt-memory.ts";
import type { ReportedUsage } from "./usage-seen.ts";
import type { Withheld } from "../stream/answer-end.ts";

/** The upstream that answered, where it is known. */
export type AnsweredBy = {
  readonly upstream: string;
  readonly upstreamModel: string;
  readonly upstreamRequestId: string | null;
  /** What the upstream charges us per 1M tokens; null where the catalog has no cost. */
  readonly cost: RouteCost | null;
  /** The attempt in the trace of its request. Null or absent: there is none. */
  readonly span?: TraceSpan | null;
};

/** The bill as the last usage object of an answer shows it. */
export type BilledUsage = {
  readonly counts: TokenCounts;
  readonly basis: UsageBasis;
  readonly clamped: boolean;
  readonly settled: SettledUsage;
  /** How many of the output tokens were reasoning, as far as the upstream reported it. */
  readonly reasoningTokens: number;
  /** Whether the answer's own usage object has the same counts. */
  readonly isAsReported: boolean;
};

/** The report of a complete answer. `drained`: the client did not wait for the end. */
export type CompletedUsage = { readonly usage: ReportedUsage; readonly drained: boolean };

const NOTHING: TokenCounts = { inputTokensUncached: 0, inputTokensCached: 0, outputTokens: 0 };
/** A stream that ended before it reported anything. */
const NOTHING_REPORTED: ReportedUsage = { usage: null, isStale: false, reader: CHAT_USAGE };
const NOTHING_METERED: Metered = {
  counts: NOTHING,
  chargedCounts: NOTHING,
  isEstimated: false,
  clamped: false,
  isUnpriced: false,
  metering: null,
  reasoningTokens: 0,
  isAsReported: false,
  tellsCached: false,
};

export type BillFacts = {
  readonly call: ChatCall;
  readonly request: BilledRequest;
  readonly plan: HoldPlan;
  /** The cap that was sent in place of the plan's bound, null where none was. */
  readonly outputCap: number | null;
  readonly ledger: Pick<Ledger, "settle" | "extend">;
  readonly clock: Clock;
  /** The prompts that upstreams read lately. Absent: the memory of this process. */
  readonly prompts?: PromptMemory;
  /** Reports an answer with what has no price here. */
  readonly onUnpriced?: (upstream: string) => void;
};

/** The amount to be held in all, at most and at least, and the relayed tokens of output. */
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
  #cachedOfProgress: number | null = null;
  /** The ledger takes one extension of a request at a time. */
  #recording: Promise<unknown> = Promise.resolve();
  #lost: LostAttempts | null = null;
  #failure: RequestFailure | null = null;

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

  /** The last attempt is not billed, and the upstream may charge for it: the operator bears what its input costs. */
  attemptLost(): void {
    this.#lost ??= new LostAttempts();
    this.#lost.add(this.#answeredBy?.cost ?? null);
  }

  /** The record keeps the first failure of the answer. Behind the settlement it is too late. */
  failed(failure: RequestFailure): void {
    this.#failure ??= failure;
  }

  firstByteReached(): void {
    this.#firstByteMs ??= this.#elapsedMs();
  }

  /** Asks for more to be held, and records that so much of the output was relayed. Errors: UpstreamBusy. */
  async extend({ outputTokens, ...amounts }: ExtensionAmounts): Promise<Extension> {
    const { key, requestId } = this.#facts.call;
    const progress = await this.#progressAt(outputTokens);
    await this.#recording;
    return this.#facts.ledger.extend({ accountId: key.accountId, requestId, ...amounts, ...progress });
  }

  /** Records how much of the output was relayed, which recovery then charges with the input. The hold stays. */
  async recordProgress(outputTokens: number): Promise<void> {
    if (this.#isSettled) return;
    const { call, ledger } = this.#facts;
    const progress = await this.#progressAt(Math.min(outputTokens, this.#bounds().output));
    // A failure concerns this record alone.
    const ids = { accountId: call.key.accountId, requestId: call.requestId };
    const recording = ledger.extend({ ...ids, ...progress, amount: 0n, leastAmount: 0n });
    this.#recording = recording.catch(() => {});
    await recording;
  }

  /** What recovery would charge now. */
  async #progressAt(outputTokens: number) {
    const input = await this.#estimateInput();
    // Once for each request: the memory may forget the prompt while it runs, and the database keeps the larger of each count.
    this.#cachedOfProgress ??= Math.min(this.#assumeCached(), input);
    const cachedTokens = this.#cachedOfProgress;
    return { inputTokens: input - cachedTokens, cachedTokens, outputTokens };
  }

  /**
   * Settles a completed answer by the upstream's usage, and by our own count where that cannot be used. Errors: UpstreamBusy
   * when the database stays away.
   */
  async settleCompleted({ usage, drained }: CompletedUsage, relayed: RelayedTokens): Promise<BilledUsage> {
    failpoint?.("after-usage");
    const metered = await this.#meter(usage, relayed, true);
    return this.#settle(metered, metered.isEstimated ? "estimated" : drained ? "drained" : "exact");
  }

  /**
   * Settles the delivered part of an answer that did not reach its end, with every figure that it reported. Errors:
   * UpstreamBusy.
   */
  async settleEstimated(
    countRelayed: () => Promise<number>,
    usage: ReportedUsage = NOTHING_REPORTED,
  ): Promise<BilledUsage> {
    const relayed = { ...NOTHING_RELAYED, estimateTokens: countRelayed };
    return this.#settle(await this.#meter(usage, relayed, false), "estimated");
  }

  /**
   * Settles an answer that was ended because no more of it may be shown. The relayed part is charged. What the upstream charges
   * beyond it is the operator's loss. Errors: UpstreamBusy.
   */
  async settleStopped(usage: ReportedUsage, output: RelayedTokens, withheld: Withheld): Promise<BilledUsage> {
    const relayed = { ...NOTHING_RELAYED, estimateTokens: () => output.estimateTokens() };
    const tokens = Math.ceil((await countTokens(withheld.text)) * withheld.share);
    const metered = await this.#meter(usage, relayed, false, {
      tokens,
      before: usage.reader.readUsage(withheld.usageBefore),
    });
    return this.#settle(metered, "estimated");
  }

  /** Settles a request that delivered nothing: nothing is charged. Errors: UpstreamBusy. */
  async settleFree(): Promise<BilledUsage> {
    return this.#settle(NOTHING_METERED, "free");
  }

  #meter(
    reported: ReportedUsage,
    relayed: RelayedTokens,
    isComplete: boolean,
    withheld?: MeterFacts["withheld"],
  ): Promise<Metered> {
    return meter(reported, {
      bounds: this.#bounds(),
      relayed,
      isComplete,
      withheld,
      estimateInput: () => this.#estimateInput(),
      assumeCached: () => this.#assumeCached(),
    });
  }

  #estimateInput(): Promise<number> {
    const { request, plan } = this.#facts;
    const bound = this.#bounds().input;
    this.#inputEstimate ??= request.estimateInput().then((tokens) => Math.min(tokens + plan.mediaTokens, bound));
    return this.#inputEstimate;
  }

  /** Tokens of this prompt that an upstream has read lately. Where they are no cheaper there is nothing to assume. */
  #assumeCached(): number {
    const { request, prompts = promptMemory, clock } = this.#facts;
    if (request.conversation === null || !this.#isCacheCheaper()) return 0;
    return prompts.cachedTokens(this.#promptPlace(), request.conversation, clock.now());
  }

  /** Only streams are cut, and only an upstream that reports cached tokens has a cache. */
  #rememberPrompt({ counts, tellsCached, isEstimated }: Metered): void {
    const { request, prompts = promptMemory, clock } = this.#facts;
    const { conversation } = request;
    if (conversation === null || isEstimated || !tellsCached || !this.#isCacheCheaper()) return;
    if (counts.inputTokensCached > 0) prompts.noteCacheHit(this.#promptPlace());
    if (!request.stream) return;
    prompts.remember(this.#promptPlace(), conversation, inputTokensOf(counts), clock.now());
  }

  #isCacheCheaper(): boolean {
    const { input, cacheHit } = this.#facts.plan.prices;
    return cacheHit !== null && cacheHit < input;
  }

  #promptPlace(): PromptPlace {
    const { call, request } = this.#facts;
    return { keyId: call.key.keyId, model: request.model, upstream: this.#answeredBy?.upstream ?? null };
  }

  /** No honest count is larger: the upstream got no more input, and its output was bounded. */
  #bounds(): UsageBounds {
    return usageBounds(this.#facts.plan, this.#facts.outputCap);
  }

  async #settle(metered: Metered, basis: UsageBasis): Promise<BilledUsage> {
    invariant(!this.#isSettled, "a hold is settled once");
    this.#isSettled = true;
    const { counts, chargedCounts, clamped, metering, reasoningTokens, isAsReported } = metered;
    const { call, request, plan, ledger } = this.#facts;
    const lost = this.#lost;
    const lostInput = lost === null ? 0 : await this.#estimateInput();
    const ofAnswer = upstreamCost(this.#answeredBy, chargedCounts);
    const cost = costOf(counts, plan.prices);
    const above = chargedCounts === counts ? 0n : costOf(chargedCounts, plan.prices) - cost;
    const unbilledCost = (above > 0n ? above : 0n) + (lost?.unbilledCost(lostInput, plan.prices) ?? 0n);
    const settlement: Settlement = {
      accountId: call.key.accountId,
      requestId: call.requestId,
      cost,
      ...counts,
      ...(unbilledCost > 0n ? { unbilledCost } : {}),
      ...this.#meteringOf(metering),
      basis,
      // The id's day, like its partition: a request that runs past midnight is billed on the day of its start.
      billingDay: billingDay(timeOfUuidv7(call.requestId)),
      upstream: this.#answeredBy?.upstream ?? null,
      upstreamModel: this.#answeredBy?.upstreamModel ?? null,
      upstreamRequestId: this.#answeredBy?.upstreamRequestId ?? null,
      upstreamCost: lost === null ? ofAnswer : lost.upstreamCost(lostInput, ofAnswer),
      streamed: request.stream,
      durationMs: this.#elapsedMs(),
      firstByteMs: this.#firstByteMs,
      clamped,
      // An answer in one piece is sent after its settlement; of a stream that has begun the client has a part.
      delivered: request.stream && this.#firstByteMs !== null,
    };
    try {
      failpoint?.("before-settle");
      const settled = await traced(call.span, "settle", () => ledger.settle(settlement));
      failpoint?.("after-settle");
      this.#rememberPrompt(metered);
      if (metered.isUnpriced) this.#facts.onUnpriced?.(this.#answeredBy?.upstream ?? "");
      return { counts, basis, clamped, settled, reasoningTokens, isAsReported };
    } catch (error) {
      this.#hasFailed = true;
      throw error;
    } finally {
      if (call.span) this.#trace(counts);
    }
  }

  #trace(counts: TokenCounts): void {
    const span = this.#answeredBy?.span;
    span?.set({ ...usageAttributes(counts), ...firstChunkAttributes(this.#firstByteMs) });
    span?.end();
  }

  #meteringOf(metering: Metered["metering"]): Pick<Settlement, "metering"> {
    if (this.#failure !== null) return { metering: { ...metering, failure: this.#failure } };
    return metering === null ? {} : { metering };
  }

  #elapsedMs(): number {
    return Math.max(0, Math.round(this.#facts.clock.now() - this.#facts.call.receivedAtMs));
  }
}

/** What the upstream charges us for these tokens, in micro-rupiah; null where the catalog has no cost. */
function upstreamCost(answeredBy: AnsweredBy | null, counts: TokenCounts): bigint | null {
  return answeredBy === null || answeredBy.cost === null ? null : costOf(counts, answeredBy.cost);
}
