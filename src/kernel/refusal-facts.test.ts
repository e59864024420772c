import { expect, it } from "vitest";
import { InsufficientBalance, InternalError, RateLimited, TooManyAtOnce } from "./errors.ts";
import { budgetExceeded, TokenLimitExceeded } from "./key-limit-errors.ts";
import { idr } from "./money.ts";
import { refusalFacts } from "./refusal-facts.ts";

const [left, needed] = [idr(500_000n), idr(1_250_000n)];
const resetsAt = new Date("2026-11-30T17:00:00Z");

it.each([
  [new InsufficientBalance({ available: left, needed }), { available_idr: "0.5", needed_idr: "1.25" }],
  [
    new InsufficientBalance({ available: left, needed, owed: idr(2_000_000n) }),
    { available_idr: "0.5", needed_idr: "1.25", owed_idr: "2" },
  ],
  [budgetExceeded("key", { left, needed }), { left_idr: "0.5", needed_idr: "1.25" }],
  [
    budgetExceeded("member", { left, needed, resetsAt }),
    { left_idr: "0.5", needed_idr: "1.25", resets_at: "2026-11-30T17:00:00.000Z" },
  ],
  [
    new TokenLimitExceeded({ needed: 300, left: 20, limit: 1_000, retryAfterSeconds: 9 }),
    { token_limit: 1_000, tokens_left: 20, tokens_needed: 300 },
  ],
  [new RateLimited({ retryAfterSeconds: 3, limit: 60 }), { request_limit: 60 }],
  [new TooManyAtOnce(), {}],
  [new InternalError(), {}],
])("the amounts of %s", (error, facts) => {
  expect(refusalFacts(error)).toEqual(facts);
});
