import { expect, test } from "vitest";
import { feeOf, parseFeeRule } from "./provider-fee-rule.ts";

const MICRO = 1_000_000n;

test.each([
  ["4000", 25_000, 4_000],
  ["0.7%", 25_000, 175],
  ["0.7%", 25_001, 176],
  ["2.9%+2000", 100_000, 4_900],
  ["0", 25_000, 0],
  ["4000", 1_000, 1_000],
])("a fee of %s on %d is %d", (text, amount, fee) => {
  const rule = parseFeeRule(text);
  expect(rule && feeOf(rule, BigInt(amount) * MICRO)).toBe(BigInt(fee) * MICRO);
});

test.each(["", "%", "+4000", "0.7", "0.7%4000", "4000+0.7%", "100%", "-1", "1e3", "0.12345%", "4.000"])(
  "%j is no fee",
  (text) => {
    expect(parseFeeRule(text)).toBeUndefined();
  },
);
