// The steps of the ledger's random walks. A generator writes an intent without knowing the state in which it runs: "settle the
// third open request at one unit above its hold". It becomes an action when its turn comes.

import fc from "fast-check";
import { uuidv7 } from "../../../src/kernel/ids.ts";
import type { PriceSnapshot } from "../../../src/ledger/ledger.ts";
import type { Action, Tokens } from "./actions.ts";
import { admitting, extending, pick, settling } from "./aimed-actions.ts";

/** The state that turns an intent into an action. The reference ledger has it, and so have the clients' answers. */
export type View = {
  readonly accounts: readonly string[];
  readonly processes: number;
  /** Each with its account. */
  readonly keys: readonly (readonly [keyId: string, accountId: string])[];
  readonly openRequests: readonly string[];
  readonly resolvedRequests: readonly string[];
  readonly references: readonly string[];
  /** Each with its amount. */
  readonly topUps: readonly (readonly [topUpId: string, amount: bigint])[];
  available(accountId: string): bigint;
  /** The hold of a request, and its prices and account. */
  granted(requestId: string): { readonly amount: bigint; readonly accountId: string; readonly prices: PriceSnapshot };
  readonly prices: PriceSnapshot;
};

/** Where an amount lies: on or beside a boundary where the answer changes, or anywhere. */
export type Amount = { readonly of: "available" | "hold" | "hold and available" | "nothing"; readonly plus: number };

export type Intent =
  | { readonly do: "credit"; readonly account: number; readonly amount: number }
  | { readonly do: "credit again"; readonly credit: number; readonly account: number; readonly amount: number }
  | {
      readonly do: "admit";
      readonly process: number;
      readonly key: number;
      readonly amount: Amount;
      readonly least: "all" | "half" | "nothing";
      readonly forgotten: boolean;
    }
  | {
      readonly do: "settle" | "settle again";
      readonly process: number;
      readonly request: number;
      readonly cost: Amount;
      readonly extra: Pick<Tokens, "cached" | "output">;
    }
  | { readonly do: "release"; readonly process: number; readonly request: number }
  | {
      readonly do: "extend" | "extend resolved";
      readonly process: number;
      readonly request: number;
      readonly amount: Amount;
      readonly least: "all" | "half" | "nothing";
      readonly input: number;
      readonly output: number;
    }
  | { readonly do: "die" | "sweep"; readonly process: number }
  | { readonly do: "recover" }
  | { readonly do: "give back"; readonly request: number; readonly amount: "all" | number; readonly name: string }
  | { readonly do: "buy"; readonly account: number; readonly amount: number }
  | { readonly do: "charge back"; readonly topUp: number; readonly part: "all" | number }
  | { readonly do: "collect" }
  | { readonly do: "revoke"; readonly key: number }
  | { readonly do: "freeze"; readonly account: number; readonly frozen: boolean }
  | { readonly do: "crowd"; readonly account: number; readonly most: number }
  | { readonly do: "limit"; readonly key: number; readonly rateLimit: number }
  | { readonly do: "wait"; readonly key: number; readonly seconds: number };

/** Prices of one token from a third of a micro-rupiah to 15 000, and none at all. */
export const PRICE_LISTS: readonly PriceSnapshot[] = [
  { input: 1_000_000n, output: 1_000_000n, cacheHit: null },
  { input: 333_333n, output: 2_000_001n, cacheHit: 50_000n },
  { input: 0n, output: 0n, cacheHit: null },
  { input: 5_000_000_000n, output: 15_000_000_000n, cacheHit: 950_000_000n },
];

const which = fc.nat({ max: 1_000 });
const beside = fc.constantFrom(-1, 0, 1);
const amount: fc.Arbitrary<Amount> = fc.oneof(
  fc.record({ of: fc.constantFrom("available", "hold", "hold and available"), plus: beside }),
  fc.record({ of: fc.constant("nothing"), plus: fc.nat({ max: 400_000 }) }),
);
const part = fc.oneof(fc.constant(0), fc.nat({ max: 3 }));

/** Intents that may run at the same time as others and have the effect of some order. */
const ATOMIC_INTENTS: readonly fc.WeightedArbitrary<Intent>[] = [
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant("credit"), account: which, amount: fc.integer({ min: 1, max: 500_000 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("credit again"),
      credit: which,
      account: which,
      amount: fc.integer({ min: 1, max: 500_000 }),
    }),
  },
  {
    weight: 10,
    arbitrary: fc.record({
      do: fc.constant("admit"),
      process: which,
      key: which,
      amount,
      least: fc.constantFrom("all", "half", "nothing"),
      forgotten: fc.constant(false),
    }),
  },
  {
    weight: 7,
    arbitrary: fc.record({
      do: fc.constantFrom("settle", "settle", "settle", "settle again"),
      process: which,
      request: which,
      cost: amount,
      extra: fc.record({ cached: part, output: part }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("release"), process: which, request: which }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom("extend", "extend", "extend", "extend resolved"),
      process: which,
      request: which,
      amount,
      least: fc.constantFrom("all", "half", "nothing"),
      input: fc.nat(500_000),
      output: fc.nat(500),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("recover") }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("give back"),
      request: which,
      amount: fc.oneof(fc.constant("all" as const), fc.integer({ min: 1, max: 100_000 })),
      name: fc.constantFrom("one", "another"),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("buy"), account: which, amount: fc.integer({ min: 1, max: 500_000 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("charge back"),
      topUp: which,
      part: fc.oneof(fc.constant("all" as const), fc.integer({ min: 1, max: 400_000 })),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("collect") }) },
];

const LONE_INTENTS: readonly fc.WeightedArbitrary<Intent>[] = [
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("admit"),
      process: which,
      key: which,
      amount,
      least: fc.constant("nothing"),
      forgotten: fc.constant(true),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("die"), process: which }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("sweep"), process: which }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("revoke"), key: which }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("freeze"), account: which, frozen: fc.constantFrom(true, false, false) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("crowd"), account: which, most: fc.nat(3) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("limit"), key: which, rateLimit: fc.constantFrom(0, 1, 3, 60) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("wait"), key: which, seconds: fc.constantFrom(20, 40, 60) }) },
];

export const atomicIntent: fc.Arbitrary<Intent> = fc.oneof(...ATOMIC_INTENTS);
export const anyIntent: fc.Arbitrary<Intent> = fc.oneof(...ATOMIC_INTENTS, ...LONE_INTENTS);

/** The present action of an intent. Null: there is nothing to act on. */
export function actionOf(intent: Intent, view: View): Action | null {
  switch (intent.do) {
    case "credit":
    case "credit again": {
      const earlier = intent.do === "credit" ? `model:${uuidv7()}` : pick(view.references, intent.credit);
      const accountId = pick(view.accounts, intent.account);
      if (earlier === null || accountId === null) return null;
      return { do: "credit", accountId, amount: BigInt(intent.amount), reference: earlier };
    }
    case "admit":
      return admitting(intent, view);
    case "settle":
    case "settle again":
      return settling(intent, view);
    case "release": {
      const requestId = pick(view.openRequests, intent.request);
      return requestId === null ? null : { do: "release", process: intent.process % view.processes, requestId };
    }
    case "extend":
    case "extend resolved":
      return extending(intent, view);
    case "die":
    case "sweep":
      return { do: intent.do, process: intent.process % view.processes };
    case "recover":
    case "collect":
      return { do: intent.do };
    case "buy": {
      const accountId = pick(view.accounts, intent.account);
      return accountId === null ? null : { do: "buy", accountId, amount: BigInt(intent.amount), topUpId: uuidv7() };
    }
    case "charge back": {
      const [topUpId, bought] = pick(view.topUps, intent.topUp) ?? [];
      if (topUpId === undefined || bought === undefined) return null;
      return { do: "charge back", topUpId, amount: intent.part === "all" ? bought : BigInt(intent.part) };
    }
    case "give back": {
      const requestId = pick(view.resolvedRequests, intent.request);
      const given = intent.amount === "all" ? null : BigInt(intent.amount);
      return requestId === null ? null : { do: "give back", requestId, amount: given, name: intent.name };
    }
    case "freeze":
    case "crowd": {
      const accountId = pick(view.accounts, intent.account);
      return accountId === null ? null : { ...intent, accountId };
    }
    case "revoke":
    case "limit":
    case "wait": {
      const [keyId] = pick(view.keys, intent.key) ?? [];
      return keyId === undefined ? null : { ...intent, keyId };
    }
    default:
      throw new Error(`there is no such intent: ${JSON.stringify(intent satisfies never)}`);
  }
}
