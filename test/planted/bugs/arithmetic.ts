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
      gateway(
        "metering/disjoint-counts.ts",
        "let rest = input.tokens - cached - written;",
        "let rest = input.tokens - written;",
      ),
    ],
    noticedBy: { file: "src/gateway/metering/read-usage.test.ts", test: "bills cached tokens as a part of the input" },
  },
  {
    name: "cached tokens are billed at the full price",
    edits: [{ file: "src/billing/cost.ts", find: "(prices.cacheHit ?? prices.input)", replace: "prices.input" }],
    noticedBy: { file: "src/billing/cost.test.ts", test: "cached tokens at the cache-hit price" },
  },
  {
    name: "one-hour writes of a long input cost what others do there",
    edits: [{ file: "src/kernel/token-prices.ts", find: "tier?.cacheWrite1h ?? (", replace: "(" }],
    noticedBy: { file: "test/gateway/cache-writes.test.ts", test: "is billed at " },
  },
  {
    name: "the books count one-hour writes of a long input in another way",
    edits: [
      {
        file: "src/database/functions/usage_cost.sql",
        find: "price_of(tier, 'cache_write_1h')",
        replace: "price_of(tier, 'cache_write')",
      },
    ],
    noticedBy: { file: "test/money/usage-cost.test.ts", test: "is the cost in TypeScript" },
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
    edits: [gateway("metering/count.ts", "Math.max(Math.ceil(stated), 0)", "Math.ceil(stated)")],
    noticedBy: { file: "src/gateway/metering/read-usage.test.ts", test: "makes whole disjoint counts" },
  },
  {
    name: "a hold forgets that cached input may be the dearer",
    edits: [
      gateway(
        "admission/hold-rates.ts",
        "cacheHit > prices.input ? cacheHit : prices.input",
        "cacheHit < 0n ? cacheHit : prices.input",
      ),
    ],
    noticedBy: { file: "src/gateway/admission/hold.test.ts", test: "is never below the cost of a request" },
  },
  {
    name: "a hold is sized for one of several answers",
    edits: [
      gateway("admission/hold.ts", "mostCost(rates, outputTokens * request.choices)", "mostCost(rates, outputTokens)"),
    ],
    noticedBy: { file: "src/gateway/admission/hold.test.ts", test: "is never below the cost of a request" },
  },
  {
    name: "a fee is rounded down",
    edits: [
      {
        file: "src/merchant/merchants/fee-schedule.ts",
        find: "divideCeil(terms.rate * amount.units, FEE_UNIT)",
        replace: "(terms.rate * amount.units) / FEE_UNIT",
      },
    ],
    noticedBy: {
      file: "src/merchant/merchants/fee-schedule.test.ts",
      test: "is less than one unit above the exact value",
    },
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
  {
    name: "a cost is computed with sixteen digits in SQL",
    edits: [
      {
        file: "src/database/functions/usage_cost.sql",
        find: "div(total + 999999, 1000000)",
        replace: "ceil(total / 1000000)",
      },
    ],
    noticedBy: { file: "test/money/usage-cost.test.ts", test: "is the cost in TypeScript" },
  },
];
