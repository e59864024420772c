// The ledger's door for one chat request: set value aside before the upstream is called, more of it while a stream runs,
// and settle it afterwards.

import type { RateState } from "../kernel/rate.ts";
import type { PriceSnapshot, TokenCounts } from "../kernel/token-prices.ts";

export type { PriceSnapshot, TokenCounts } from "../kernel/token-prices.ts";

/** How the tokens of a usage record are known; what each means for the customer is said in billing/README.md. */
export type UsageBasis = "exact" | "drained" | "estimated" | "recovered" | "free";

/** How the counts of a usage record came about where they are not simply what the upstream reported. */
export type Metering = {
  /** What the upstream reported, where it is not what was billed. */
  readonly reported?: TokenCounts;
  /** The rules by which counts were corrected or estimated, by stable names. */
  readonly rules?: readonly string[];
  /** What the upstream said the request costs us, in US dollars as a decimal string; it is shown and not computed with. */
  readonly reportedCostUsd?: string;
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
  /** The client's name for the request: of the requests under one name one is billed. Absent: it has none. */
  readonly once?: { readonly name: string; readonly bodyDigest: Buffer };
};

/** The decision on one request, taken on locked rows in one statement. Rate and balance are decided independently. */
export type Admission =
  /** `amount` micro-rupiah are held: what was asked, or what the balance covered, at least `leastAmount`. */
  | {
      readonly outcome: "granted";
      readonly amount: bigint;
      readonly rate: RateState;
      /** Whether the account keeps answers for retries; only where the request has a name. */
      readonly keepsAnswers?: boolean;
    }
  /** Another request under the same name runs. No slot was taken, here and in the next two. */
  | { readonly outcome: "running" }
  /** Another request under the same name has, or had, another body. */
  | { readonly outcome: "other_body" }
  /** Another request under the same name was answered and charged. */
  | {
      readonly outcome: "answered";
      readonly requestId: string;
      readonly charge: bigint;
      readonly keepsAnswers: boolean;
    }
  /** No slot free for this many milliseconds. */
  | { readonly outcome: "limited"; readonly retryAfterMs: number; readonly rate: RateState }
  | { readonly outcome: "revoked" }
  /** The operator has frozen the account. */
  | { readonly outcome: "frozen" }
  /** The account has as many open requests as it may. No slot was taken. */
  | { readonly outcome: "crowded"; readonly rate: RateState }
  /** Less than `leastAmount` is available. The request took a slot. */
  /** `owed`: what the account owes for payments that were taken back, which is not available. Absent: nothing. */
  | { readonly outcome: "refused"; readonly available: bigint; readonly owed?: bigint; readonly rate: RateState };

/** Asks for more to be held for a request that runs, and records how far it has come. */
export type ExtensionRequest = {
  readonly accountId: string;
  readonly requestId: string;
  /** Micro-rupiah that are to be held in all. */
  readonly amount: bigint;
  /** The least in all with which the request can usefully go on; `amount` or less. */
  readonly leastAmount: bigint;
  /** What recovery charges should the process die: the input that is not cached, the cached one, and the output delivered. */
  readonly inputTokens: number;
  /** Absent: 0. */
  readonly cachedTokens?: number;
  readonly outputTokens: number;
};

/** The decision on an extension. `amount` is what is held in all from now on. */
export type Extension =
  | { readonly outcome: "granted"; readonly amount: bigint }
  /** Less than the least amount is available. `othersHold`: what other requests hold now may become free. */
  | { readonly outcome: "refused"; readonly amount: bigint; readonly othersHold: boolean }
  /** The hold has been resolved by somebody else. */
  | { readonly outcome: "gone" };

/** What a request came to. */
export type Settlement = TokenCounts & {
  readonly accountId: string;
  readonly requestId: string;
  /** Micro-rupiah; 0 for the basis `free`. */
  readonly cost: bigint;
  /**
   * Micro-rupiah at the customer's prices of what is not billed and the operator bears: tokens that the upstream reported above
   * what was billed, attempts that were given up. Absent: 0.
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
  /** What the upstream says it costs us, in micro-rupiah; null: it does not say. */
  readonly upstreamCost: bigint | null;
  readonly streamed: boolean;
  readonly durationMs: number;
  readonly firstByteMs: number | null;
  /** Whether the upstream's numbers were cut to what is possible. */
  readonly clamped: boolean;
  /**
   * Whether the client has had what is settled. Then it stays owed, and is settled later, when the database does not take it
   * in time; else the hold is given back.
   */
  readonly delivered: boolean;
};

/** What was written: the cost, and what was taken from the balance for it, in micro-rupiah. */
export type SettledUsage = {
  readonly cost: bigint;
  readonly charge: bigint;
  /**
   * Set where recovery had resolved the hold before. `posted`: what the request cost beyond the recovered charge is posted, and
   * `charge` is both; what was delivered may be covered in part only. `refused`: the balance does not cover all of it, nothing was
   * delivered yet and nothing was posted, so the answer must not be shown.
   */
  readonly late?: "posted" | "refused";
};

export interface Ledger {
  /**
   * Decides on a request and places its hold. Durable when it returns. A replay with the same request id has the effect
   * of one. Errors: UpstreamBusy when the database is away (then nothing is held, or the hold is swept later).
   */
  admit(request: AdmissionRequest): Promise<Admission>;
  /**
   * Grows the hold of a running request and records its progress, one call at a time for a request. Durable when it
   * returns; a replay has the effect of one. Errors: UpstreamBusy when the database stays away.
   */
  extend(request: ExtensionRequest): Promise<Extension>;
  /**
   * Captures what the request cost, releases the rest and writes the usage record. Durable when it returns. Only the
   * first settlement of a request counts; a later one reads the record of the first. Where that is recovery's, the difference
   * is posted (`late`). Errors: UpstreamBusy when the database stays away.
   */
  settle(settlement: Settlement): Promise<SettledUsage>;
}
