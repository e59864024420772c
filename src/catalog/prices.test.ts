import fc from "fast-check";
import { expect, test } from "vitest";
import { IDR, parseMoney } from "../kernel/money.ts";
import { cacheHitPercent, formatPrice, formatPriceDifference, MAX_PRICE } from "./prices.ts";

const percent = (inputPrice: bigint, cacheHitPrice: bigint | null) => cacheHitPercent({ inputPrice, cacheHitPrice });
const rupiah = (text: number) => BigInt(text) * 1_000_000n;

test("prints prices in rupiah without zeros behind the last digit", () => {
  expect([0n, 1n, rupiah(5_000), MAX_PRICE].map(formatPrice)).toEqual(["0", "0.000001", "5000", "1000000000"]);
});

test("prints every price and every difference so that it is read back as it was", () => {
  const price = fc.bigInt({ min: 0n, max: MAX_PRICE });
  fc.assert(
    fc.property(price, price, (before, after) => {
      expect(parseMoney(formatPrice(before), IDR).units).toBe(before);
      const [, sign = "", digits = ""] = /^([+-]?)(.*)$/.exec(formatPriceDifference(before, after)) ?? [];
      expect({ "": 0n, "+": 1n, "-": -1n }[sign]).toBe(after > before ? 1n : before > after ? -1n : 0n);
      expect(before + parseMoney(digits, IDR).units * (sign === "-" ? -1n : 1n)).toBe(after);
    }),
    { numRuns: 10_000 },
  );
});

test("prints how far a price moved with its sign", () => {
  expect(formatPriceDifference(rupiah(5_000), rupiah(5_500))).toBe("+500");
  expect(formatPriceDifference(rupiah(5_000), rupiah(4_999) + 750_000n)).toBe("-0.25");
  expect(formatPriceDifference(rupiah(5_000), rupiah(5_000))).toBe("0");
});

test("shows the cache-hit price as a percentage of the input price", () => {
  expect(percent(rupiah(5_000), rupiah(500))).toBe(10);
  expect(percent(rupiah(5_000), rupiah(950))).toBe(19);
  expect(percent(rupiah(5_000), rupiah(1_250))).toBe(25);
  expect(percent(rupiah(3), rupiah(1))).toBe(33.33);
  expect(percent(rupiah(3), rupiah(2))).toBe(66.67);
  expect(percent(rupiah(5_000), 0n)).toBe(0);
  expect(percent(rupiah(5_000), null)).toBeNull();
  expect(percent(0n, 0n)).toBeNull();
});
