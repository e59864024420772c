// The ledger's port for one chat request: hold money before the upstream is called, extend the hold while a stream runs, and
// settle it afterwards.

import type { RecordedCode, ValidationReason } from "../kernel/errors.ts";
import type { BudgetOf, BudgetPeriod } from "../kernel/key-limit-errors.ts";
import type { RateState } from "../kernel/rate.ts";
import type { PriceSnapshot, TokenCounts } from "../kernel/token-prices.ts";

export type { PriceSnapshot, TokenCounts } from "../kernel/token-prices.ts";

/** How the tokens of a usage record are known; billing/README.md describes what each means for the customer. */
export type UsageBasis = "exact" | "drained" | "estimated" | "recovered" | "free";

/** How the counts of a usage record came about where they are not simply what the upstream reported. */
export type Metering = {
  /** What the upstream reported, where it is not what was billed. */
  readonly reported?: TokenCounts;
  /** The rules by which counts were corrected or estimated, by stable names. */
  readonly rules?: readonly string[];
  /** The upstream's own figure of its cost, in US dollars as a decimal string; it is shown, and no sum uses it. */
  readonly reportedCostUsd?: string;
  /** Why the answer did not reach its end. It changes no amount. */
  readonly failure?: RequestFailure;
};

/** The failure of an admitted request: names only, and no text of an upstream. */
export type RequestFailure = {
  /** The code of an error, a reason of an invalid request, or one of the outcomes that are no error of ours. */
  readonly code: RecordedCode | ValidationReason | "client_left" | "answer_refused";
  /** Whether the status of a stream had been sent, so that the failure is inside the answer. */
  readonly inStream: boolean;
};

export type AdmissionRequest = {
  readonly accountId: string;
  readonly keyId: string;
  /** A UUIDv7; the hold's and the usage record's id. */
  readonly requestId: string;
  /** Micro-rupiah the request can cost at most. */
  readonly amount: bigint;
  /** The least micro-rupiah with which the request is still useful; `amount` or less. */
  readonly leastAmount: bigint;
  /** The catalog model's id. */
  readonly model: string;
  readonly prices: PriceSnapshot;
  /** The tokens that the hold was sized for: they count in the limit of the key. Absent: none. */
  readonly tokens?: number;
  /** The client's name for the request: of the requests under one name one is billed. Absent: it has none. */
  readonly once?: { readonly name: string; readonly bodyDigest: Buffer };
};

/** The decision on one request, made on locked rows in one statement. Rate and balance are decided independently. */
export type Admission =
  /** `amount` micro-rupiah are held: the requested amount or the available one, at least `leastAmount`. */
  | {
      readonly outcome: "granted";
      readonly amount: bigint;
      readonly rate: RateState;
      /** Whether the account keeps answers for retries; only for a request with a name. */
      readonly keepsAnswers?: boolean;
    }
  /** Another request with the same name runs. This outcome and the next two take no slot. */
  | { readonly outcome: "running" }
  /** Another request with the same name has, or had, another body. */
  | { readonly outcome: "other_body" }
  /** Another request with the same name was answered and charged. */
  | {
      readonly outcome: "answered";
      readonly requestId: string;
      readonly charge: bigint;
      readonly keepsAnswers: boolean;
    }
  /** No slot free for this many milliseconds. */
  | { readonly outcome: "limited"; readonly retryAfterMs: number; readonly rate: RateState }
  /** More tokens than are left in the minute of the key. No slot was taken. */
  | { readonly outcome: "token_limited"; readonly retryAfterMs: number; readonly limit: number; readonly left: number }
  | { readonly outcome: "revoked" }
  /** An operator has frozen the account. */
  | { readonly outcome: "frozen" }
  /** The key may not ask this model. No slot was taken. */
  | { readonly outcome: "not_allowed" }
  /** Less than `leastAmount` is left of a budget, in micro-rupiah. The request took a slot. */
  | {
      readonly outcome: "over_budget";
      readonly of: BudgetOf;
      readonly period: BudgetPeriod;
      readonly left: bigint;
      /** When the budget begins again. Null: never. */
      readonly resetsAt: Date | null;
      readonly rate: RateState;
    }
  /** The account has as many open requests as its limit. No slot was taken. */
  | { readonly outcome: "crowded"; readonly rate: RateState }
  /** Less than `leastAmount` is available. The request took a slot. */
  /** `owed`: the account's debt for payments that were taken back, which is not available. Absent: no debt. */
  | { readonly outcome: "refused"; readonly available: bigint; readonly owed?: bigint; readonly rate: RateState };

/** Extends the hold of a running request, and records its progress. */
export type ExtensionRequest = {
  readonly accountId: string;
  readonly requestId: string;
  /** The whole hold after the extension, in micro-rupiah. */
  readonly amount: bigint;
  /** The least whole hold with which the request can usefully continue; `amount` or less. */
  readonly leastAmount: bigint;
  /** What recovery charges if the process dies: uncached input, cached input, and the delivered output. */
  readonly inputTokens: number;
  /** Absent: 0. */
  readonly cachedTokens?: number;
  readonly outputTokens: number;
};

/** The decision on an extension. `amount` is the whole hold from now on. */
export type Extension =
  | { readonly outcome: "granted"; readonly amount: bigint }
  /** Less than the least amount is available. `othersHold`: holds of other requests may become available. */
  | { readonly outcome: "refused"; readonly amount: bigint; readonly othersHold: boolean }
  /** Less than the least amount is left of a budget. */
  | {
      readonly outcome: "over_budget";
      readonly of: BudgetOf;
      /** Null: the statement does not show it. */
      readonly period: BudgetPeriod | null;
      /** When the budget begins again. Null: never. */
      readonly resetsAt: Date | null;
      readonly amount: bigint;
      readonly othersHold: boolean;
    }
  /** Another process has resolved the hold. */
  | { readonly outcome: "gone" };

/** The result of a request, for its usage record. */
export type Settlement = TokenCounts & {
  readonly accountId: string;
  readonly requestId: string;
  /** Micro-rupiah; 0 for the basis `free`. */
  readonly cost: bigint;
  /**
   * Micro-rupiah at the customer's prices that are not billed and that the operator bears: tokens that the upstream reported
   * above the billed ones, and attempts that were given up. Absent: 0.
   */
  readonly unbilledCost?: bigint;
  /** Absent or null: the counts are what the upstream reported. */
  readonly metering?: Metering | null;
  readonly basis: UsageBasis;
  /** `YYYY-MM-DD` in Asia/Jakarta. */
  readonly billingDay: string;
  /** Id of the upstream that answered; null when none did. */
  readonly upstream: string | null;
  readonly upstreamModel: string | null;
  readonly upstreamRequestId: string | null;
  /** The upstream's own figure of its cost, in micro-rupiah; null: it gives none. */
  readonly upstreamCost: bigint | null;
  readonly streamed: boolean;
  readonly durationMs: number;
  readonly firstByteMs: number | null;
  /** Whether the upstream's numbers were cut to what is possible. */
  readonly clamped: boolean;
  /**
   * Whether the answer was delivered to the client. A delivered answer remains owed, and is settled later if the database does
   * not take it in time; otherwise the hold is released.
   */
  readonly delivered: boolean;
};

/** The written record: the cost, and the charge to the balance, in micro-rupiah. */
export type SettledUsage = {
  readonly cost: bigint;
  readonly charge: bigint;
  /**
   * Set where recovery had resolved the hold before. `posted`: the cost beyond the recovered charge is posted, and `charge`
   * contains both; a delivered answer may be covered in part only. `refused`: the balance does not cover an undelivered answer
   * and nothing was posted, so the answer must not be delivered.
   */
  readonly late?: "posted" | "refused";
};

export interface Ledger {
  /**
   * Decides on a request and places its hold. Durable when it returns. A replay with the same request id has the effect
   * of one. Errors: ServiceBusy when the database is away (then nothing is held, or the hold is swept later).
   */
  admit(request: AdmissionRequest): Promise<Admission>;
  /**
   * Extends the hold of a running request and records its progress; a request has one call at a time. Durable when it returns; a
   * replay has the effect of one. Errors: ServiceBusy when the database remains unavailable.
   */
  extend(request: ExtensionRequest): Promise<Extension>;
  /**
   * Captures the cost of a request, releases the rest of the hold and writes the usage record. Durable when it returns. Only the
   * first settlement of a request counts; a later one reads the record of the first. If recovery wrote that record, the
   * difference is posted (`late`). Errors: ServiceBusy when the database remains unavailable.
   */
  settle(settlement: Settlement): Promise<SettledUsage>;
}
