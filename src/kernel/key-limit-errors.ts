// What a request meets at the limits of its key.

import { DomainError, InsufficientBalance } from "./errors.ts";
import type { Money } from "./money.ts";
import { rupiahText } from "./rupiah-text.ts";

/** What a budget is for: a calendar day or month in the zone of its account, or all time since it was set. */
export const BUDGET_PERIODS = ["total", "day", "month"] as const;
export type BudgetPeriod = (typeof BUDGET_PERIODS)[number];

/** Whose budget it is: that of a key, or of the member who has made the key. */
export type BudgetOf = "key" | "member";

type BudgetFacts = { readonly left: Money; readonly needed: Money; readonly resetsAt?: Date | null };

/** What is left of a budget does not cover the hold that this request needs. */
export abstract class BudgetExceeded extends DomainError {
  abstract override readonly code: "key_budget_exceeded" | "member_budget_exceeded";
  /** What is neither spent nor held of it; in a stream, with what the request holds. */
  readonly left: Money;
  readonly needed: Money;
  /** When the budget begins again. Null: never. */
  readonly resetsAt: Date | null;
  constructor({ left, needed, resetsAt = null }: BudgetFacts, { which, advice }: { which: string; advice: string }) {
    const again = resetsAt === null ? advice : `It begins again at ${resetsAt.toISOString()}.`;
    super(
      `The budget of ${which} is too low for this request. Left is ${rupiahText(left)}, needed is ${rupiahText(needed)}. ${again}`,
    );
    this.left = left;
    this.needed = needed;
    this.resetsAt = resetsAt;
  }
}

/** The budget of the key is too low. */
export class KeyBudgetExceeded extends BudgetExceeded {
  readonly code = "key_budget_exceeded";
  constructor(facts: BudgetFacts) {
    super(facts, { which: "this key", advice: "Raise the budget of the key." });
  }
}

/** The budget of the member who has made the key is too low. All keys of the member count in it. */
export class MemberBudgetExceeded extends BudgetExceeded {
  readonly code = "member_budget_exceeded";
  constructor(facts: BudgetFacts) {
    super(facts, {
      which: "the member who made this key",
      advice: "An owner or admin of the account can raise it.",
    });
  }
}

/** The error of a budget that is too low. */
export function budgetExceeded(of: BudgetOf, facts: BudgetFacts): BudgetExceeded {
  return of === "key" ? new KeyBudgetExceeded(facts) : new MemberBudgetExceeded(facts);
}

/** A developer changes the limits of a key, which owners and admins do. */
export class LimitsOfOwners extends DomainError {
  readonly code = "permission_denied";
  constructor() {
    super("Only owners and admins of the account change the limits of a key. Leave them out to rename it.");
  }
}

/** The key may not ask this model. */
export class ModelNotAllowed extends DomainError {
  readonly code = "model_not_allowed";
  constructor(modelId: string) {
    super(
      `This key may not use the model ${JSON.stringify(modelId)}. GET /v1/models lists the models that it may use.`,
    );
  }
}

type TokenFacts = {
  /** The fewest tokens with which the request is useful. */
  readonly needed: number;
  readonly left: number;
  readonly limit: number;
  readonly retryAfterSeconds: number;
};

/** The tokens that are left of the key's limit in a minute do not cover this request. */
export class TokenLimitExceeded extends DomainError {
  readonly code = "token_limit_exceeded";
  /** 0: the request needs more than the limit, so it is never admitted. */
  readonly retryAfterSeconds: number;
  readonly limit: number;
  readonly left: number;
  readonly needed: number;
  constructor({ needed, left, limit, retryAfterSeconds }: TokenFacts) {
    const isTooLarge = needed > limit;
    const advice = isTooLarge
      ? "A retry cannot succeed. Shorten the request, or raise the token limit of the key."
      : `Left are ${left}. Try again in ${retryAfterSeconds} seconds.`;
    super(`This key allows ${limit} tokens a minute, and this request needs at least ${needed}. ${advice}`);
    this.retryAfterSeconds = isTooLarge ? 0 : retryAfterSeconds;
    this.limit = limit;
    this.left = left;
    this.needed = needed;
  }
}

/** The key may not be used from the network of the caller. */
export class NetworkNotAllowed extends DomainError {
  readonly code = "network_not_allowed";
  constructor() {
    super("This key may not be used from this network address. Its owner has set the networks that may use it.");
  }
}

/** Whether money ended a request: that of the account, or a budget. */
export function isOutOfMoney(error: unknown): error is InsufficientBalance | BudgetExceeded {
  return error instanceof InsufficientBalance || error instanceof BudgetExceeded;
}
