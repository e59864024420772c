// One step of a walk: a few intents at the same time, run on the real ledger and on the model, and everything compared.

import type { AsyncCommand } from "fast-check";
import { expect } from "vitest";
import type { PriceSnapshot } from "../../../src/ledger/ledger.ts";
import { actionOf, type Intent, type View } from "./intents.ts";
import type { RealLedger } from "./real-ledger.ts";
import type { Action, Answer } from "./actions.ts";
import type { ReferenceLedger } from "./reference.ts";
import { findOrder, plainEffect } from "./some-order.ts";

/** The state of a walk: the model, the present prices, and how often each event has happened in all walks. */
export type WalkState = { readonly model: ReferenceLedger; prices: PriceSnapshot; readonly seen: Map<string, number> };

/** The list price changes; later admissions have the new price. */
export class PriceStep implements AsyncCommand<WalkState, RealLedger> {
  readonly #prices: PriceSnapshot;
  constructor(prices: PriceSnapshot) {
    this.#prices = prices;
  }

  check(): boolean {
    return true;
  }

  async run(state: WalkState): Promise<void> {
    state.prices = this.#prices;
  }

  toString(): string {
    return `prices are now ${this.#prices.input}/${this.#prices.output}/${this.#prices.cacheHit ?? "-"}`;
  }
}

export class LedgerStep implements AsyncCommand<WalkState, RealLedger> {
  readonly #intents: readonly Intent[];
  constructor(intents: readonly Intent[]) {
    this.#intents = intents;
  }

  check(state: WalkState): boolean {
    return actionsOf(this.#intents, state).length > 0;
  }

  /** Actions at the same time must answer, and leave the books, as if they had come in some order. */
  async run(state: WalkState, real: RealLedger): Promise<void> {
    const { model } = state;
    const actions = actionsOf(this.#intents, state);
    const answers = await Promise.all(actions.map((action) => real.perform(action)));
    const next = actions.length > 1 ? nextRounds(actions) : [];
    for (const action of next) await real.perform(action);
    const books = await real.books([...model.posted.keys()]);
    const happened = { actions, next, effect: { answers, books } };
    const future = findOrder(model, happened);
    if (future === undefined) {
      expect(happened.effect, `${this.toString()} has the effect of some order`).toEqual(plainEffect(model, happened));
      throw new Error(`${this.toString()} has the effect of no order`);
    }
    model.copyFrom(future);
    for (const [index, answer] of answers.entries()) count(state.seen, nameOf(actions[index] as Action, answer));
  }

  toString(): string {
    return this.#intents.map((intent) => JSON.stringify(intent)).join(" & ");
  }
}

/**
 * A worker leaves a locked account to its next round. A group also collects for those of its accounts that had available money
 * before it; the time is not predictable, and the result is.
 */
function nextRounds(actions: readonly Action[]): Action[] {
  return [
    ...(actions.some((action) => action.do === "recover") ? [{ do: "recover" } as const] : []),
    { do: "collect" },
  ];
}

/** Names what happened: `admit: granted`, `settle: cut off`. */
function nameOf(action: Action, { outcome, cost, charge, error }: Answer): string {
  if (error !== undefined) return `${action.do}: refused`;
  if (typeof outcome === "string") return `${action.do}: ${outcome}`;
  return cost === charge ? action.do : `${action.do}: cut off`;
}

function count(seen: Map<string, number>, name: string): void {
  seen.set(name, (seen.get(name) ?? 0) + 1);
}

function actionsOf(intents: readonly Intent[], { model, prices }: WalkState): Action[] {
  const view = viewOf(model, prices);
  const actions = intents.map((intent) => actionOf(intent, view)).filter((action) => action !== null);
  // A request has one extension at a time: the ledger requires that of its callers.
  const extended = new Set<string>();
  return actions.filter((action) => {
    if (action.do !== "extend") return true;
    const isFirst = !extended.has(action.requestId);
    extended.add(action.requestId);
    return isFirst;
  });
}

function viewOf(model: ReferenceLedger, prices: PriceSnapshot): View {
  return {
    accounts: [...model.posted.keys()],
    processes: model.deaths.length,
    keys: [...model.keys].map(([keyId, { accountId }]) => [keyId, accountId] as const),
    openRequests: [...model.holds.keys()],
    resolvedRequests: [...model.resolved.keys()],
    references: [...model.credits.keys()],
    topUps: [...model.topUps].map(([topUpId, { amount }]) => [topUpId, amount] as const),
    available: (accountId) => model.available(accountId),
    granted: (requestId) => {
      const request = model.requests.get(requestId);
      if (request === undefined) throw new Error(`the model knows no request ${requestId}`);
      return { ...request, amount: model.holds.get(requestId)?.amount ?? request.amount };
    },
    prices,
  };
}
