// The marks of a seal's lines, compared with those of the lines that are there.

import { MARK_BYTES } from "./chain.ts";

/** A line that is there: its row's id, and its mark in hexadecimal. */
export type FoundLine = { readonly id: string; readonly mark: string };

/** How a line differs from its seal. Null: the row is unknown. */
export type LineDifference = { readonly id: string | null; readonly detail: string };

const CHANGED = "was changed or added after it was sealed";

/** Which lines are not those that were sealed. */
export function differences(sealed: readonly string[], found: readonly FoundLine[]): LineDifference[] {
  const open = new Map<string, number>();
  for (const mark of sealed) open.set(mark, (open.get(mark) ?? 0) + 1);
  const others = found.filter(({ mark }) => {
    const left = open.get(mark) ?? 0;
    open.set(mark, left - 1);
    return left <= 0;
  });
  const places = [...sealed.keys()].filter((place) => {
    const mark = sealed[place] ?? "";
    const left = open.get(mark) ?? 0;
    if (left > 0) open.set(mark, left - 1);
    return left > 0;
  });
  const changes = others.map(({ id }) => ({ id, detail: CHANGED }));
  const missing = places.map((place) => ({
    id: found[place - 1]?.id ?? null,
    detail: `line ${place + 1} of ${sealed.length} is not as it was sealed`,
  }));
  const all = [...changes, ...missing];
  return all.length > 0 ? all : [{ id: null, detail: "the seal or the order of its lines was changed" }];
}

/** The marks of a seal, in hexadecimal. */
export function marksIn(marks: Buffer): string[] {
  const count = Math.floor(marks.length / MARK_BYTES);
  return Array.from({ length: count }, (_, at) => marks.toString("hex", at * MARK_BYTES, (at + 1) * MARK_BYTES));
}

/** The same where the first lines of a seal are not there, and are not looked for. */
export function differencesBehind(sealed: readonly string[], found: readonly FoundLine[]): LineDifference[] {
  const open = Map.groupBy(sealed.keys(), (place) => sealed[place] ?? "");
  const places = found.map(({ mark }) => open.get(mark)?.shift());
  const changes = found.filter((_, at) => places[at] === undefined).map(({ id }) => ({ id, detail: CHANGED }));
  const known = places.filter((place) => place !== undefined);
  const [first] = known;
  if (first === undefined) return changes;
  const isOrdered = known.every((place, at) => at === 0 || place > (known[at - 1] ?? 0));
  if (!isOrdered) return [...changes, { id: null, detail: "the order of its lines was changed" }];
  const there = new Set(known);
  const missing = [...sealed.keys()]
    .filter((place) => place > first && !there.has(place))
    .map((place) => ({ id: null, detail: `line ${place + 1} of ${sealed.length} is not as it was sealed` }));
  return [...changes, ...missing];
}
