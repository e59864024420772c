/** The states of a top-up. The transitions are in states.ts. */
export const TOP_UP_STATES = [
  "created",
  "pending",
  "review",
  "expired",
  "failed",
  "canceled",
  "paid",
  "partially_refunded",
  "refunded",
  "charged_back",
] as const;
export type TopUpState = (typeof TOP_UP_STATES)[number];

/** One purchase of balance. Money is micro-rupiah. */
export type TopUp = {
  /** Also the order's name at the provider. */
  readonly topUpId: string;
  readonly accountId: string;
  readonly amount: bigint;
  /** The provider it was opened at; it never changes, even when another one is configured later. */
  readonly provider: string;
  readonly state: TopUpState;
  /** The provider's own name for the payment; null until it has assigned one. */
  readonly providerReference: string | null;
  readonly paymentUrl: string | null;
  /** What the provider has given back to the payer so far. */
  readonly givenBack: bigint;
  /** What of that the account did not have, and still owes. */
  readonly owed: bigint;
  /** What an operator should know: why it is not credited though the provider reports paid, and the like. */
  readonly problem: string | null;
  /** The state of the payer's disputes that an operator should know of; null: there are none, or they were won. */
  readonly dispute: "open" | "lost" | null;
  /** Grows with every change that can be seen. */
  readonly revision: number;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly paidAt: Date | null;
  /** When something that can be seen has changed last. */
  readonly changedAt: Date;
};
