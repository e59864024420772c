import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { givenBackParts, leastOrderOf, taxedAmountOf } from "./tax.ts";

const RUPIAH = 1_000_000n;
const orders = fc.bigInt(1n, 1_000_000_000n).map((rupiah) => rupiah * RUPIAH);
const rules = fc.record({ rate: fc.integer({ min: 0, max: 5_000 }), isIncluded: fc.boolean() });

describe("the tax on an order", () => {
  it("is, with the net amount, exactly what is paid, in whole rupiah, for all amounts and rates", () => {
    fc.assert(
      fc.property(orders, rules, (ordered, rule) => {
        const { net, tax } = taxedAmountOf(ordered, rule);
        expect(net > 0n && tax >= 0n).toBe(true);
        expect([net % RUPIAH, tax % RUPIAH]).toEqual([0n, 0n]);
        expect(rule.isIncluded ? net + tax : net).toBe(ordered);
      }),
      { numRuns: 2_000 },
    );
  });

  it("has a least order whose net amount is enough, and that of a rupiah less is not", () => {
    fc.assert(
      fc.property(orders, rules, (net, rule) => {
        const least = leastOrderOf(net, rule);
        expect(taxedAmountOf(least, rule).net).toBeGreaterThanOrEqual(net);
        const isLess = least === RUPIAH || taxedAmountOf(least - RUPIAH, rule).net < net;
        expect(isLess).toBe(true);
      }),
      { numRuns: 2_000 },
    );
    expect(leastOrderOf(10_000n * RUPIAH, { rate: 1_100, isIncluded: true })).toBe(11_100n * RUPIAH);
  });

  it("is the nearest whole rupiah of its rate, a half upwards, for all amounts and rates", () => {
    fc.assert(
      fc.property(orders, rules, (ordered, rule) => {
        const { tax } = taxedAmountOf(ordered, rule);
        const [whole, base] = [BigInt(rule.rate), rule.isIncluded ? 10_000n + BigInt(rule.rate) : 10_000n];
        // tax * base - ordered * rate, which is at most half a rupiah of the base, and never a whole half below.
        const off = tax * base - ordered * whole;
        expect(off * 2n <= RUPIAH * base && off * 2n > -RUPIAH * base).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    { ordered: 100_000n, rate: 1_100, isIncluded: false, net: 100_000n, tax: 11_000n },
    { ordered: 111_000n, rate: 1_100, isIncluded: true, net: 100_000n, tax: 11_000n },
    { ordered: 50_000n, rate: 1_100, isIncluded: true, net: 45_045n, tax: 4_955n },
    { ordered: 10_005n, rate: 1_000, isIncluded: false, net: 10_005n, tax: 1_001n },
    { ordered: 25_000n, rate: 0, isIncluded: true, net: 25_000n, tax: 0n },
  ])("of $ordered at $rate, included: $isIncluded, is $tax", ({ ordered, net, tax, ...rule }) => {
    expect(taxedAmountOf(ordered * RUPIAH, rule)).toEqual({ net: net * RUPIAH, tax: tax * RUPIAH });
  });
});

describe("what is given back of a payment", () => {
  const payments = fc.tuple(orders, rules).map(([ordered, rule]) => taxedAmountOf(ordered, rule));

  it("has parts of whole rupiah: 1 000 of 13 337 with 11 % are 901 and 99", () => {
    const paid = { net: 12_015n * RUPIAH, tax: 1_322n * RUPIAH };
    expect(givenBackParts(1_000n * RUPIAH, paid)).toEqual({ net: 901n * RUPIAH, tax: 99n * RUPIAH });
  });

  it("is whole again where a former rule left parts of a rupiah, and never less", () => {
    fc.assert(
      fc.property(payments, fc.double({ min: 0, max: 1, noNaN: true }), (paid, share) => {
        const whole = (paid.net + paid.tax) / RUPIAH;
        const first = (whole * BigInt(Math.round(share * 1_000_000))) / 1_000_000n;
        if (first === whole) return;
        const former = (first * RUPIAH * paid.tax * 2n + whole * RUPIAH) / (whole * RUPIAH * 2n);
        const next = givenBackParts((first + 1n) * RUPIAH, paid, former);
        expect(next.tax % RUPIAH).toBe(0n);
        expect(next.tax >= former && next.net >= first * RUPIAH - former).toBe(true);
        expect(next.tax <= paid.tax && next.net <= paid.net).toBe(true);
        expect(givenBackParts(whole * RUPIAH, paid, former)).toEqual(paid);
      }),
      { numRuns: 2_000 },
    );
  });

  it("has parts that come to it, only grow, and end with the parts of the payment", () => {
    fc.assert(
      fc.property(payments, fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 5 }), (paid, shares) => {
        const whole = paid.net + paid.tax;
        const sums = shares
          .map((share) => ((whole / RUPIAH) * BigInt(Math.round(share * 1_000_000))) / 1_000_000n)
          .map((rupiah) => rupiah * RUPIAH)
          .concat(whole)
          .toSorted((a, b) => (a < b ? -1 : 1));
        let before = { net: 0n, tax: 0n };
        for (const sum of sums) {
          const back = givenBackParts(sum, paid);
          expect(back.net + back.tax).toBe(sum);
          expect([back.net % RUPIAH, back.tax % RUPIAH]).toEqual([0n, 0n]);
          const off = back.tax * whole - sum * paid.tax;
          expect(off * 2n <= RUPIAH * whole && off * 2n > -RUPIAH * whole).toBe(true);
          expect(back.net >= before.net && back.tax >= before.tax).toBe(true);
          expect(back.net <= paid.net && back.tax <= paid.tax).toBe(true);
          before = back;
        }
        expect(before).toEqual(paid);
      }),
      { numRuns: 1_000 },
    );
  });
});
