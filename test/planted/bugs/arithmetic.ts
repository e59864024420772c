// Costs, holds, fees and decimals: rules whose tests need no database.

import { gateway, type PlantedBug } from "../planted-bug.ts";

/** Each with the test that must notice it. */
export const ARITHMETIC_BUGS: readonly PlantedBug[] = [
  {
    name: "a cost is computed in floating point",
    edits: [
      {
        file: "src/billing/cost.ts",
        find: "return divideCeil(total, TOKENS_PER_PRICE)",
        replace: "return BigInt(Math.ceil(Number(total) / Number(TOKENS_PER_PRICE)))",
      },
    ],
    noticedBy: { file: "src/billing/cost.test.ts", test: "is the least whole micro-rupiah" },
  },
  {
    name: "cached tokens are billed on top of the input",
    edits: [
      gateway("usage.ts", "inputTokensUncached: input.tokens - cached.tokens", "inputTokensUncached: input.tokens"),
    ],
    noticedBy: { file: "src/gateway/usage.test.ts", test: "bills cached tokens as a part of the input" },
  },
  {
    name: "cached tokens are billed at the full price",
    edits: [{ file: "src/billing/cost.ts", find: "(prices.cacheHit ?? prices.input)", replace: "prices.input" }],
    noticedBy: { file: "src/billing/cost.test.ts", test: "cached tokens at the cache-hit price" },
  },
  {
    name: "a cost is rounded down",
    edits: [
      {
        file: "src/billing/cost.ts",
        find: "return divideCeil(total, TOKENS_PER_PRICE)",
        replace: "return total / TOKENS_PER_PRICE",
      },
    ],
    noticedBy: { file: "src/billing/cost.test.ts", test: "is the least whole micro-rupiah" },
  },
  {
    name: "an upstream may count below zero",
    edits: [gateway("usage.ts", "Math.max(Math.ceil(said), 0)", "Math.ceil(said)")],
    noticedBy: { file: "src/gateway/usage.test.ts", test: "makes whole counts within the bounds" },
  },
  {
    name: "a hold forgets that cached input may be the dearer",
    edits: [
      gateway(
        "hold.ts",
        "prices.cacheHit > prices.input ? prices.cacheHit : prices.input",
        "false ? prices.cacheHit : prices.input",
      ),
    ],
    noticedBy: { file: "src/gateway/hold.test.ts", test: "is never below the cost of a request" },
  },
  {
    name: "a hold is sized for one of several answers",
    edits: [gateway("hold.ts", "outputTokens * request.choices, prices", "outputTokens, prices")],
    noticedBy: { file: "src/gateway/hold.test.ts", test: "is never below the cost of a request" },
  },
  {
    name: "a fee is rounded down",
    edits: [
      {
        file: "src/merchant/fee-schedule.ts",
        find: "divideCeil(terms.rate * amount.units, FEE_UNIT)",
        replace: "(terms.rate * amount.units) / FEE_UNIT",
      },
    ],
    noticedBy: { file: "src/merchant/fee-schedule.test.ts", test: "lies less than one unit above the exact value" },
  },
  {
    name: "a decimal that is too fine is cut off",
    edits: [
      {
        file: "src/kernel/decimal.ts",
        find: "if (digits % divisor !== 0n) throw",
        replace: "if (divisor === 0n) throw",
      },
    ],
    noticedBy: { file: "src/kernel/decimal.test.ts", test: "agrees with a rational number" },
  },
];
