// A key as lines of logs keep it.

import { changedFacts } from "../kernel/changed-facts.ts";
import { formatMoney, idr } from "../kernel/money.ts";
import type { ApiKey } from "./api-key.ts";
import type { KeyLimits } from "./key-limits.ts";

type ShownKey = Pick<ApiKey, "name" | "rateLimit" | "limits">;

/** A key as texts; what is not limited is left out. */
export function keyFacts({ name, rateLimit, limits }: ShownKey): Record<string, string> {
  return { name, rateLimit: String(rateLimit), ...limitFacts(limits) };
}

/** Its name, and what was changed of it. */
export function changedKeyFacts(before: ShownKey, after: ShownKey): Record<string, string> {
  const changed = changedFacts(keyFacts(before), keyFacts(after), ["budgetIdr", "budgetPeriod"]);
  return { name: after.name, ...changed };
}

function limitFacts({ budget, expiresAt, allowedModels, allowedNetworks, tokenLimit }: KeyLimits) {
  return {
    ...(budget === null ? {} : { budgetIdr: formatMoney(idr(budget.amount)), budgetPeriod: budget.period }),
    ...(expiresAt === null ? {} : { expiresAt: expiresAt.toISOString() }),
    ...(allowedModels === null ? {} : { allowedModels: allowedModels.join(" ") }),
    ...(tokenLimit === null ? {} : { tokenLimit: String(tokenLimit) }),
    ...(allowedNetworks === null ? {} : { allowedNetworks: allowedNetworks.join(" ") }),
  };
}
