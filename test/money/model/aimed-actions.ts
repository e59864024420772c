// The action of a request's intent: its request, key and account, and an amount on or beside a boundary.

import { uuidv7 } from "../../../src/kernel/ids.ts";
import type { Action } from "./actions.ts";
import type { Amount, Intent, View } from "./intents.ts";

const TOKENS_PER_PRICE = 1_000_000n;
const MAX_TOKENS = 2_147_483_647n;

/** Null: there is no such key. */
export function admitting(intent: Extract<Intent, { do: "admit" }>, view: View): Action | null {
  const [keyId, accountId] = pick(view.keys, intent.key) ?? [];
  if (keyId === undefined || accountId === undefined) return null;
  const asked = amountOf(intent.amount, { available: view.available(accountId), hold: 0n });
  const least = leastOf(asked, intent.least);
  const request = {
    accountId,
    keyId,
    requestId: uuidv7(),
    amount: asked,
    leastAmount: least,
    model: "test/model",
    prices: view.prices,
  };
  return { do: "admit", process: intent.process % view.processes, request, forgotten: intent.forgotten };
}

/** Null: there is no such request. */
export function settling(
  { do: what, process, request, cost, extra }: Extract<Intent, { do: "settle" | "settle again" }>,
  view: View,
): Action | null {
  const requestId = pick(what === "settle" ? view.openRequests : view.resolvedRequests, request);
  if (requestId === null) return null;
  const { amount: hold, accountId, prices } = view.granted(requestId);
  const aim = amountOf(cost, { available: view.available(accountId), hold });
  const uncached = prices.input === 0n ? aim : (aim * TOKENS_PER_PRICE) / prices.input;
  const tokens = { ...extra, uncached: Number(uncached > MAX_TOKENS ? MAX_TOKENS : uncached) };
  return { do: "settle", process: process % view.processes, requestId, tokens, basis: "exact" };
}

/** Null: there is no such request. */
export function extending(
  {
    do: what,
    process,
    request,
    amount: aim,
    least,
    input,
    output,
  }: Extract<Intent, { do: "extend" | "extend resolved" }>,
  view: View,
): Action | null {
  const requestId = pick(what === "extend" ? view.openRequests : view.resolvedRequests, request);
  if (requestId === null) return null;
  const { amount: hold, accountId } = view.granted(requestId);
  const wanted = amountOf(aim, { available: view.available(accountId), hold });
  const progress = { input, output };
  return {
    do: "extend",
    process: process % view.processes,
    requestId,
    amount: wanted,
    least: leastOf(wanted, least),
    ...progress,
  };
}

function leastOf(asked: bigint, least: "all" | "half" | "nothing"): bigint {
  return { all: asked, half: asked / 2n, nothing: 0n }[least];
}

function amountOf({ of, plus }: Amount, { available, hold }: { available: bigint; hold: bigint }): bigint {
  const base = { available, hold, "hold and available": hold + available, nothing: 0n }[of];
  const sum = base + BigInt(plus);
  return sum < 0n ? 0n : sum;
}

/** One of them, counted round and round; null where there is none. */
export function pick<T>(items: readonly T[], at: number): T | null {
  return items[at % items.length] ?? null;
}
