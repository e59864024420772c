// One step of a walk: a few intents at the same time, done to the real ledger and to the model, and everything compared.

import type { AsyncCommand } from "fast-check";
import { expect } from "vitest";
import type { PriceSnapshot } from "../../../src/ledger/ledger.ts";
import { actionOf, type Intent, type View } from "./intents.ts";
import type { RealLedger } from "./real-ledger.ts";
import type { Action, Answer, Books, ReferenceLedger } from "./reference.ts";

/** What a walk is in: the model, the prices of the moment, and how often what has happened in all walks. */
export type WalkState = { readonly model: ReferenceLedger; prices: PriceSnapshot; readonly seen: Map<string, number> };

/** The list price changes; what is admitted from now on is priced by it. */
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
    // A recovery leaves an account that is locked just then to its next round.
    const next: Action[] =
      actions.length > 1 && actions.some((action) => action.do === "recover") ? [{ do: "recover" }] : [];
    for (const action of next) await real.perform(action);
    const accounts = [...model.posted.keys()];
    const books = await real.books(accounts);

    const foreseen: Foreseen[] = [];
    for (const order of permutationsOf(actions.map((_, index) => index))) {
      const future = model.clone();
      const predicted: Answer[] = [];
      for (const index of order) predicted[index] = future.apply(actions[index] as Action);
      for (const action of next) future.apply(action);
      const view = { answers: predicted, books: Object.fromEntries(accounts.map((id) => [id, future.books(id)])) };
      const comparable = (each: Foreseen) => (actions.length === 1 ? each : withoutWindow(each));
      if (isSame(comparable(view), comparable({ answers, books }))) {
        model.become(future);
        for (const [index, answer] of answers.entries()) count(state.seen, nameOf(actions[index] as Action, answer));
        return;
      }
      foreseen.push(view);
    }
    // None fits: the difference to the first is shown.
    expect({ answers, books }, `${this.toString()} has the effect of some order`).toEqual(foreseen[0]);
    throw new Error(`${this.toString()} has the effect of no order`);
  }

  toString(): string {
    return this.#intents.map((intent) => JSON.stringify(intent)).join(" & ");
  }
}

/** Names what happened: `admit: granted`, `settle: cut off`. */
function nameOf(action: Action, { outcome, cost, charge }: Answer): string {
  if (typeof outcome === "string") return `${action.do}: ${outcome}`;
  return cost === charge ? action.do : `${action.do}: cut off`;
}

function count(seen: Map<string, number>, name: string): void {
  seen.set(name, (seen.get(name) ?? 0) + 1);
}

type Foreseen = { readonly answers: readonly Answer[]; readonly books: Readonly<Record<string, Books>> };

function actionsOf(intents: readonly Intent[], { model, prices }: WalkState): Action[] {
  const view = viewOf(model, prices);
  return intents.map((intent) => actionOf(intent, view)).filter((action) => action !== null);
}

function viewOf(model: ReferenceLedger, prices: PriceSnapshot): View {
  return {
    accounts: [...model.posted.keys()],
    processes: model.deaths.length,
    keys: [...model.keys].map(([keyId, { accountId }]) => [keyId, accountId] as const),
    openRequests: [...model.holds.keys()],
    resolvedRequests: [...model.resolved.keys()],
    references: [...model.credits.keys()],
    available: (accountId) => model.available(accountId),
    granted: (requestId) => {
      const request = model.requests.get(requestId);
      if (request === undefined) throw new Error(`the model knows no request ${requestId}`);
      return { ...request, amount: model.holds.get(requestId)?.amount ?? request.amount };
    },
    prices,
  };
}

/** What is left in a window is told as of the moment of the slot, which may lie before the moment of the money. */
function withoutWindow({ answers, books }: Foreseen): Foreseen {
  return { answers: answers.map((answer) => ({ ...answer, remaining: null })), books };
}

function isSame(left: Foreseen, right: Foreseen): boolean {
  return comparableText(left) === comparableText(right);
}

/** Text that is the same for what is the same, whatever the order of its members. */
function comparableText(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) => {
    if (typeof member === "bigint") return `${member}n`;
    if (typeof member !== "object" || member === null || Array.isArray(member)) return member;
    return Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  });
}

function permutationsOf(items: readonly number[]): number[][] {
  if (items.length <= 1) return [[...items]];
  return items.flatMap((first) =>
    permutationsOf(items.filter((item) => item !== first)).map((others) => [first, ...others]),
  );
}
