// The amounts of a refusal for money or for a limit, as fields that a program reads. Each protocol has them at a place of its own.

import { type DomainError, InsufficientBalance, RateLimited } from "./errors.ts";
import { BudgetExceeded, TokenLimitExceeded } from "./key-limit-errors.ts";
import { formatMoney } from "./money.ts";

/** The fields, by the names that they have in every protocol. Empty: the error is no such refusal. */
export function refusalFacts(error: DomainError): Record<string, string | number> {
  if (error instanceof InsufficientBalance) {
    const { available, needed, owed } = error;
    const facts = { available_idr: formatMoney(available), needed_idr: formatMoney(needed) };
    return owed === null ? facts : { ...facts, owed_idr: formatMoney(owed) };
  }
  if (error instanceof BudgetExceeded) {
    const { left, needed, resetsAt } = error;
    const facts = { left_idr: formatMoney(left), needed_idr: formatMoney(needed) };
    return resetsAt === null ? facts : { ...facts, resets_at: resetsAt.toISOString() };
  }
  if (error instanceof TokenLimitExceeded)
    return { token_limit: error.limit, tokens_left: error.left, tokens_needed: error.needed };
  return error instanceof RateLimited ? { request_limit: error.limit } : {};
}
