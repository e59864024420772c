// The ledger's actions, their answers and the books after them: the form in which the reference ledger and the real one are
// compared. This file imports nothing of the code under test but the types of its interface.

import type { AdmissionRequest, UsageBasis } from "../../../src/ledger/ledger.ts";

/** The tokens of a request; they do not overlap. */
export type Tokens = { readonly uncached: number; readonly cached: number; readonly output: number };

/** One action on the ledger. `process` is the number of its serving process. */
export type Action =
  | { readonly do: "credit"; readonly accountId: string; readonly amount: bigint; readonly reference: string }
  | {
      readonly do: "admit";
      readonly process: number;
      readonly request: AdmissionRequest;
      /** The process loses its memory of the hold, as it does when the reply of an admission is lost for good. */
      readonly forgotten: boolean;
    }
  | {
      readonly do: "settle";
      readonly process: number;
      readonly requestId: string;
      readonly tokens: Tokens;
      readonly basis: UsageBasis;
    }
  | { readonly do: "release"; readonly process: number; readonly requestId: string }
  | {
      readonly do: "extend";
      readonly process: number;
      readonly requestId: string;
      /** The whole hold after the extension, and the least one. */
      readonly amount: bigint;
      readonly least: bigint;
      /** The progress of the request, in tokens. */
      readonly input: number;
      readonly output: number;
    }
  /** The process is declared dead and continues under a new id. */
  | { readonly do: "die"; readonly process: number }
  | { readonly do: "recover" }
  /** The process releases its old holds that it does not remember. */
  | { readonly do: "sweep"; readonly process: number }
  /** A credit note: null credits the rest of the charge. */
  | { readonly do: "give back"; readonly requestId: string; readonly amount: bigint | null; readonly name: string }
  /** The account buys balance by a top-up, which is paid. */
  | { readonly do: "buy"; readonly accountId: string; readonly amount: bigint; readonly topUpId: string }
  /** The bank has taken back this much of a top-up in all. */
  | { readonly do: "charge back"; readonly topUpId: string; readonly amount: bigint }
  /** The worker collects debts from available money. */
  | { readonly do: "collect" }
  | { readonly do: "revoke"; readonly keyId: string }
  | { readonly do: "freeze"; readonly accountId: string; readonly frozen: boolean }
  /** How many requests of the account may run at once; 0: any number. */
  | { readonly do: "crowd"; readonly accountId: string; readonly most: number }
  | { readonly do: "limit"; readonly keyId: string; readonly rateLimit: number }
  /** All counted requests of the key become so much older. */
  | { readonly do: "wait"; readonly keyId: string; readonly seconds: number };

/** The answer to an action, in comparable form. */
export type Answer = Readonly<Record<string, unknown>>;

/** The expected rows of one account, in comparable form. */
export type Books = {
  readonly posted: string;
  readonly owed: string;
  readonly held: string;
  /** Frozen or not, the number of running requests, and its limit. */
  readonly state: string;
  /** The sum of the account's postings and usage records. */
  readonly postings: string;
  /** Our loss for its requests. */
  readonly losses: string;
  /** Amount and recorded progress of each open hold. */
  readonly holds: Readonly<Record<string, string>>;
  /** Cost, charge and basis of each resolved request. */
  readonly usage: Readonly<Record<string, string>>;
  /** Of each key: revoked or not, and the taken slots of its window. */
  readonly keys: Readonly<Record<string, string>>;
};
