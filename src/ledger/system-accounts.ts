// Our own ledger accounts. They keep no running balance: a row that every request updates is a queue. One id serves every asset;
// a posting names its asset.

export const systemAccounts = {
  /** Customers' payments for requests. The view ledger_entries contains this id as a constant. */
  revenue: "00000000-0000-7000-8000-000000000001",
  /** The cost that no balance covered. */
  operatorLoss: "00000000-0000-7000-8000-000000000002",
  /** Money at payment providers. */
  providerClearing: "00000000-0000-7000-8000-000000000003",
  /** Balance that we gave away. */
  promotions: "00000000-0000-7000-8000-000000000004",
  /** Operators' credits and debits. */
  operatorAdjustments: "00000000-0000-7000-8000-000000000005",
  /** Crypto that merchants brought in. */
  merchantClearing: "00000000-0000-7000-8000-000000000006",
  /** The amounts of merchants' transfers. One transaction debits and credits it, so its balance is always zero. */
  payoutClearing: "00000000-0000-7000-8000-000000000007",
  /** The debts of accounts after a payment was given back. Its sum is negative. */
  receivables: "00000000-0000-7000-8000-000000000008",
  /** Network fees of payouts, in the coin of the fee. Our expense. */
  networkFees: "00000000-0000-7000-8000-00000000000a",
  /** Payment providers' fees. Our expense. */
  providerFees: "00000000-0000-7000-8000-00000000000c",
  /** Payments above their orders: a provider's fee that the payer bears, or money that an operator has to give back. */
  overpayments: "00000000-0000-7000-8000-00000000000d",
  /** The tax that payers of top-ups have paid, and that we owe the state. */
  taxPayable: "00000000-0000-7000-8000-00000000000e",
  /** The other side of worthless coins: sandbox merchants receive, send and pay fees in them. */
  sandbox: "00000000-0000-7000-8000-00000000000b",
} as const;
