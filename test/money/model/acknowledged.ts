// The ledger's answers to clients, and their consequences for its books: no model of the inside, only the facts that any order of
// the actions leaves.

import type { AdmissionRequest, PriceSnapshot } from "../../../src/ledger/ledger.ts";
import type { View } from "./intents.ts";
import type { Action, Answer } from "./actions.ts";

type Credit = { readonly accountId: string; readonly amount: bigint };
type Granted = AdmissionRequest & { held: bigint };

/** The books of one request. */
export type Recorded = { readonly cost: bigint; readonly charge: bigint };

export class Acknowledged implements View {
  readonly accounts: string[] = [];
  readonly processes: number;
  readonly keys: (readonly [keyId: string, accountId: string])[] = [];
  prices: PriceSnapshot;
  readonly #granted = new Map<string, Granted>();
  /** Requests that were refused. */
  readonly refused = new Set<string>();
  /** Every answer to a settlement of a request. */
  readonly settled = new Map<string, Recorded[]>();
  /** All credits that were ever requested under a reference, of which one counts on each account. */
  readonly credits = new Map<string, Credit[]>();
  /** The top-ups that were bought, without those of an action that may have failed. */
  readonly topUps: (readonly [topUpId: string, amount: bigint])[] = [];
  /** The credit notes of each request. */
  readonly givenBack = new Map<string, bigint>();
  readonly outcomes = new Map<string, number>();

  constructor(facts: { processes: number; prices: PriceSnapshot }) {
    this.processes = facts.processes;
    this.prices = facts.prices;
  }

  get openRequests(): string[] {
    return [...this.#granted.keys()].filter((id) => !this.settled.has(id));
  }

  get resolvedRequests(): string[] {
    return [...this.settled.keys()];
  }

  get grantedRequests(): string[] {
    return [...this.#granted.keys()];
  }

  get references(): string[] {
    return [...this.credits.keys()];
  }

  /** From the known answers only: parallel actions may be taking it. */
  available(accountId: string): bigint {
    let available = 0n;
    for (const asked of this.credits.values())
      available += asked.find((credit) => credit.accountId === accountId)?.amount ?? 0n;
    for (const [requestId, { held, accountId: of }] of this.#granted)
      if (of === accountId) available -= this.settled.get(requestId)?.[0]?.charge ?? held;
    return available;
  }

  granted(requestId: string): { amount: bigint; accountId: string; prices: PriceSnapshot } {
    const request = this.#granted.get(requestId);
    if (request === undefined) throw new Error(`no hold was granted for ${requestId}`);
    return { ...request, amount: request.held };
  }

  /** Records an action before it runs: it may have its effect without an answer. */
  begin(action: Action): void {
    if (action.do !== "credit") return;
    const { accountId, amount, reference } = action;
    this.credits.set(reference, [...(this.credits.get(reference) ?? []), { accountId, amount }]);
  }

  /** Records its answer. */
  end(action: Action, { outcome, amount, cost, charge, isNew }: Answer): void {
    const name = typeof outcome === "string" ? `${action.do}: ${outcome}` : action.do;
    this.outcomes.set(name, (this.outcomes.get(name) ?? 0) + 1);
    if (action.do === "buy") this.topUps.push([action.topUpId, action.amount]);
    if (action.do === "give back" && isNew === true && typeof amount === "bigint")
      this.givenBack.set(action.requestId, (this.givenBack.get(action.requestId) ?? 0n) + amount);
    if (action.do === "admit" && outcome !== "granted") this.refused.add(action.request.requestId);
    if (action.do === "admit" && typeof amount === "bigint")
      this.#granted.set(action.request.requestId, { ...action.request, held: amount });
    const extended = action.do === "extend" ? this.#granted.get(action.requestId) : undefined;
    if (extended !== undefined && typeof amount === "bigint" && amount > extended.held) extended.held = amount;
    if ((action.do === "settle" || action.do === "release") && typeof cost === "bigint" && typeof charge === "bigint")
      this.settled.set(action.requestId, [...(this.settled.get(action.requestId) ?? []), { cost, charge }]);
  }
}
