// Actions at the same time must have the effect of some order of them. This looks for the order.

import type { Action, Answer, Books } from "./actions.ts";
import type { ReferenceLedger } from "./reference.ts";
import { booksOf } from "./reference-books.ts";

/** The answers of actions, and the books of the accounts after them. */
export type Effect = { readonly answers: readonly Answer[]; readonly books: Readonly<Record<string, Books>> };

export type Happened = {
  readonly actions: readonly Action[];
  /** The books after the actions. */
  readonly next: readonly Action[];
  readonly effect: Effect;
};

/** No more orders are tried than this: where thousands explain nothing, none does. */
const MOST_TRIES = 20_000;

/**
 * The model after an order that explains the answers; undefined: there is none. An order ends at the first unexplained answer.
 */
export function findOrder(model: ReferenceLedger, { actions, next, effect }: Happened): ReferenceLedger | undefined {
  const isAlone = actions.length === 1;
  const seen = effect.answers.map((answer) => textOfAnswer(answer, isAlone));
  const books = comparableText(effect.books);
  let tries = 0;
  /** Dead ends: the remaining actions with their books. Most orders reach the same ones. */
  const deadEnds = new Set<string>();
  const search = (before: ReferenceLedger, left: readonly number[]): ReferenceLedger | undefined => {
    if (left.length === 0) {
      for (const action of next) before.apply(action);
      return comparableText(allBooks(before)) === books ? before : undefined;
    }
    const moment = `${left.join(" ")} ${comparableText(allBooks(before))}`;
    if (deadEnds.has(moment)) return undefined;
    for (const index of left) {
      if (++tries > MOST_TRIES) return undefined;
      const after = before.clone();
      if (textOfAnswer(after.apply(actions[index] as Action), isAlone) !== seen[index]) continue;
      const others = left.filter((other) => other !== index);
      const found = search(after, others);
      if (found !== undefined) return found;
    }
    deadEnds.add(moment);
    return undefined;
  };
  return search(
    model,
    actions.map((_, index) => index),
  );
}

/** The expected answers in one order, shown beside the real ones. */
export function plainEffect(model: ReferenceLedger, { actions, next }: Pick<Happened, "actions" | "next">): Effect {
  const future = model.clone();
  const answers = actions.map((action) => future.apply(action));
  for (const action of next) future.apply(action);
  return { answers, books: allBooks(future) };
}

function allBooks(model: ReferenceLedger): Record<string, Books> {
  return Object.fromEntries([...model.posted.keys()].map((accountId) => [accountId, booksOf(model, accountId)]));
}

/** Of several actions the rest of a window is as of the moment of the slot, which may lie before the moment of the money. */
function textOfAnswer(answer: Answer, isAlone: boolean): string {
  return comparableText(isAlone ? answer : { ...answer, remaining: null });
}

/** A text that is equal for equal values, whatever the order of their members. */
function comparableText(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) => {
    if (typeof member === "bigint") return `${member}n`;
    if (typeof member !== "object" || member === null || Array.isArray(member)) return member;
    return Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  });
}
