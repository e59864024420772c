// What can be done to the ledger, what it answers and what its books then hold: the words in which the reference ledger and the
// real one are compared. Nothing here comes from the code under test but the types of its door.

import type { AdmissionRequest, UsageBasis } from "../../../src/ledger/ledger.ts";

/** Tokens that a request came to; they do not overlap. */
export type Tokens = { readonly uncached: number; readonly cached: number; readonly output: number };

/** One thing that is done to the ledger. `process` is the number of the serving process it is done in. */
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
      /** What is to be held in all, and the least of that. */
      readonly amount: bigint;
      readonly least: bigint;
      /** How far the request has come, in tokens. */
      readonly input: number;
      readonly output: number;
    }
  /** The process is declared dead and goes on under a new id. */
  | { readonly do: "die"; readonly process: number }
  | { readonly do: "recover" }
  /** The process gives back its old holds that it does not remember. */
  | { readonly do: "sweep"; readonly process: number }
  /** A credit note: null gives back all that is left of the charge. */
  | { readonly do: "give back"; readonly requestId: string; readonly amount: bigint | null; readonly name: string }
  /** The account buys balance by a top-up, which is paid. */
  | { readonly do: "buy"; readonly accountId: string; readonly amount: bigint; readonly topUpId: string }
  /** The bank has taken so much of a top-up back in all. */
  | { readonly do: "charge back"; readonly topUpId: string; readonly amount: bigint }
  /** The worker collects what is owed and free. */
  | { readonly do: "collect" }
  | { readonly do: "revoke"; readonly keyId: string }
  | { readonly do: "freeze"; readonly accountId: string; readonly frozen: boolean }
  /** How many requests of the account may run at once; 0: any number. */
  | { readonly do: "crowd"; readonly accountId: string; readonly most: number }
  | { readonly do: "limit"; readonly keyId: string; readonly rateLimit: number }
  /** All requests counted for the key come to lie so much further back. */
  | { readonly do: "wait"; readonly keyId: string; readonly seconds: number };

/** What an action answered, in comparable form. */
export type Answer = Readonly<Record<string, unknown>>;

/** What the database should hold of one account, in comparable form. */
export type Books = {
  readonly posted: string;
  readonly owed: string;
  readonly held: string;
  /** Frozen or not, and how many requests run of how many that may. */
  readonly state: string;
  /** What the postings and usage records of the account come to. */
  readonly postings: string;
  /** What was booked as our loss for its requests. */
  readonly losses: string;
  /** Amount and recorded progress of each open hold. */
  readonly holds: Readonly<Record<string, string>>;
  /** Cost, charge and basis of each resolved request. */
  readonly usage: Readonly<Record<string, string>>;
  /** Of each key: revoked or not, and how many slots of its window are taken. */
  readonly keys: Readonly<Record<string, string>>;
};
