// Ledger accounts of ours. They keep no running balance: a row that everybody updates is a queue. One id serves every
// asset; a posting names its asset.

export const systemAccounts = {
  /** What customers paid for requests. Also written, as a constant, in the view ledger_entries. */
  revenue: "00000000-0000-7000-8000-000000000001",
  /** Cost that no balance covered. */
  operatorLoss: "00000000-0000-7000-8000-000000000002",
  /** Money at payment providers. */
  providerClearing: "00000000-0000-7000-8000-000000000003",
  /** Balance we gave away. */
  promotions: "00000000-0000-7000-8000-000000000004",
  /** What operators put on or took off by hand. */
  operatorAdjustments: "00000000-0000-7000-8000-000000000005",
  /** Crypto that merchants brought in. */
  merchantClearing: "00000000-0000-7000-8000-000000000006",
  /** What merchants' transfers send. It takes and gives in one transaction, so it always stands at zero. */
  payoutClearing: "00000000-0000-7000-8000-000000000007",
  /** What accounts owe us after a payment was given back. What lies here is owed, so its sum is negative. */
  receivables: "00000000-0000-7000-8000-000000000008",
  /** What networks took for carrying payouts out, in the coin they take it in. Our expense. */
  networkFees: "00000000-0000-7000-8000-00000000000a",
  /** What payment providers keep of payments. Our expense. */
  providerFees: "00000000-0000-7000-8000-00000000000c",
  /** What payers paid above their orders: a provider's fee that the payer bears, or money to be given back by hand. */
  overpayments: "00000000-0000-7000-8000-00000000000d",
  /** The other side of coins that are worth nothing: what sandbox merchants are given, send and pay in fees. */
  sandbox: "00000000-0000-7000-8000-00000000000b",
} as const;
