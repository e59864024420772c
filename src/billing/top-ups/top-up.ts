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
  /** What the account is credited: what is paid, without the tax. */
  readonly amount: bigint;
  /** The tax that is paid on top of it, by the rule of the day of the order. */
  readonly tax: bigint;
  /** Hundredths of a percent. */
  readonly taxRate: number;
  /** Whether the amount that was ordered included the tax. */
  readonly isTaxIncluded: boolean;
  /** The provider it was opened at; it never changes, even when another one is configured later. */
  readonly provider: string;
  readonly state: TopUpState;
  /** The provider's own name for the payment; null until it has assigned one. */
  readonly providerReference: string | null;
  readonly paymentUrl: string | null;
  /** What the provider has given back to the payer so far, without the tax. */
  readonly givenBack: bigint;
  /** What it has given back of the tax. */
  readonly taxGivenBack: bigint;
  /** What of that the account did not have, and still owes. */
  readonly owed: bigint;
  /** What an operator should know: why it is not credited though the provider reports paid, and the like. */
  readonly problem: string | null;
  /** The state of the payer's disputes that an operator should know of; null: there are none, or they were won. */
  readonly dispute: "open" | "lost" | null;
  /** Its receipt. Null: there is none yet. */
  readonly receipt: { readonly receiptId: string; readonly number: string } | null;
  /** Grows with every change that can be seen. */
  readonly revision: number;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly paidAt: Date | null;
  /** The saved method that it charges by itself; null: its payer pays. */
  readonly methodId: string | null;
  /** Whether the method that pays it is saved, as its payer agreed. */
  readonly savesMethod: boolean;
  /** Since when that method is to be saved. Null: it is not, or it was saved. */
  readonly methodDueAt: Date | null;
  /** When something that can be seen has changed last. */
  readonly changedAt: Date;
};

/** What the payer pays. */
export function paidAmountOf({ amount, tax }: Pick<TopUp, "amount" | "tax">): bigint {
  return amount + tax;
}
