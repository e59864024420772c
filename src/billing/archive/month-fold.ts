// A month of records, folded as they are read in the order of their key: the digest of their texts, and the sums of each account. The
// database, the file and what is restored from it have to come to the same.

import { createHash } from "node:crypto";
import { canonicalText, type RecordRow, textAt } from "./record-row.ts";

/** The sums of an account in a month. Money is micro-rupiah. */
export type AccountSums = {
  readonly accountId: string;
  readonly requests: bigint;
  readonly inputTokensUncached: bigint;
  readonly inputTokensCached: bigint;
  readonly outputTokens: bigint;
  readonly cost: bigint;
  readonly charge: bigint;
  /** What was booked as our loss: the cost above the charge, and cost that was never billed. */
  readonly loss: bigint;
  /** The ids of the first and the last request. */
  readonly firstId: string;
  readonly lastId: string;
};

/** What a month comes to. */
export type MonthSums = {
  readonly rows: bigint;
  readonly accounts: number;
  readonly cost: bigint;
  readonly charge: bigint;
  /** SHA-256 over the canonical texts of the records, in hexadecimal. */
  readonly digest: string;
  /** The same over the lines of the accounts' sums. */
  readonly accountsDigest: string;
};

type Open = { -readonly [Name in keyof AccountSums]: AccountSums[Name] };

export class MonthFold {
  readonly #records = createHash("sha256");
  readonly #accountLines = createHash("sha256");
  readonly #onAccount: (sums: AccountSums) => void;
  #open: Open | null = null;
  #rows = 0n;
  #accounts = 0;
  #cost = 0n;
  #charge = 0n;

  /** `onAccount` gets the sums of each account when its last record was added. */
  constructor(onAccount: (sums: AccountSums) => void = () => {}) {
    this.#onAccount = onAccount;
  }

  /** Adds a record. Errors: it is not behind the one before, in the order of accounts and requests. */
  add(row: RecordRow): void {
    const [accountId, requestId] = [textAt(row, "account_id"), textAt(row, "request_id")];
    const last = this.#open;
    if (last !== null && (accountId < last.accountId || (accountId === last.accountId && requestId <= last.lastId)))
      throw new Error(`The record ${requestId} of account ${accountId} is not in the order of the archive.`);
    if (last?.accountId !== accountId) {
      this.#close();
      this.#open = beginningOf(accountId, requestId);
    }
    const open = this.#open as Open;
    const [cost, charge] = [BigInt(textAt(row, "cost")), BigInt(textAt(row, "charge"))];
    open.requests += 1n;
    open.inputTokensUncached += BigInt(textAt(row, "input_tokens_uncached"));
    open.inputTokensCached += BigInt(textAt(row, "input_tokens_cached"));
    open.outputTokens += BigInt(textAt(row, "output_tokens"));
    open.cost += cost;
    open.charge += charge;
    open.loss += cost - charge + BigInt(textAt(row, "unbilled_cost"));
    open.lastId = requestId;
    this.#records.update(canonicalText(row));
  }

  /** What all of them come to. */
  end(): MonthSums {
    this.#close();
    return {
      rows: this.#rows,
      accounts: this.#accounts,
      cost: this.#cost,
      charge: this.#charge,
      digest: this.#records.digest("hex"),
      accountsDigest: this.#accountLines.digest("hex"),
    };
  }

  #close(): void {
    const open = this.#open;
    if (open === null) return;
    this.#open = null;
    this.#rows += open.requests;
    this.#accounts += 1;
    this.#cost += open.cost;
    this.#charge += open.charge;
    this.#accountLines.update(accountLine(open));
    this.#onAccount(open);
  }
}

function beginningOf(accountId: string, firstId: string): Open {
  return {
    accountId,
    requests: 0n,
    inputTokensUncached: 0n,
    inputTokensCached: 0n,
    outputTokens: 0n,
    cost: 0n,
    charge: 0n,
    loss: 0n,
    firstId,
    lastId: firstId,
  };
}

/** The line of an account's sums, under the digest of them all. */
export function accountLine(sums: AccountSums): string {
  const { accountId, requests, inputTokensUncached, inputTokensCached, outputTokens, cost, charge, loss } = sums;
  const numbers = [requests, inputTokensUncached, inputTokensCached, outputTokens, cost, charge, loss].map(String);
  return `${JSON.stringify([accountId, ...numbers, sums.firstId, sums.lastId])}\n`;
}

/** Where two folds of a month differ, in words. Empty: nowhere. */
export function differencesOf(one: MonthSums, other: MonthSums): string[] {
  const names = ["rows", "accounts", "cost", "charge", "digest", "accountsDigest"] as const;
  return names.filter((name) => one[name] !== other[name]).map((name) => `${name} ${one[name]}, not ${other[name]}`);
}
