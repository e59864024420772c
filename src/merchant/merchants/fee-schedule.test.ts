import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseDecimal } from "../../kernel/decimal.ts";
import { type Asset, formatMoney, parseMoney } from "../../kernel/money.ts";
import { coins } from "../chains/currencies.ts";
import { chooseFeeRow, computeFee, FEE_DECIMALS, type FeeRow, type FeeTerms } from "./fee-schedule.ts";

const fine = (text: string): bigint => parseDecimal(text, FEE_DECIMALS);

function terms({
  flat = "0",
  rate = "0",
  min,
  max,
}: {
  flat?: string;
  rate?: string;
  min?: string;
  max?: string;
}): FeeTerms {
  return {
    flat: fine(flat),
    rate: fine(rate),
    min: min === undefined ? null : fine(min),
    max: max === undefined ? null : fine(max),
  };
}

function feeOf(amount: string, asset: Asset, order: Parameters<typeof terms>[0]): string {
  return formatMoney(computeFee(terms(order), parseMoney(amount, asset)));
}

function row(id: string, merchantId: string | null, currencyCode: string | null, version = 1): FeeRow {
  return { ...terms({ flat: "1" }), id, merchantId, currencyCode, version, createdAt: new Date(0) };
}

describe("computeFee", () => {
  test("adds the flat part and the rate", () => {
    expect(feeOf("5", "USDT/6", { rate: "0.3" })).toBe("1.5");
    expect(feeOf("10", "TRX/6", { flat: "16.7" })).toBe("16.7");
    expect(feeOf("10", "TRX/6", { flat: "1", rate: "0.01" })).toBe("1.1");
    expect(feeOf("10", "TRX/6", {})).toBe("0");
  });

  test("is never below min and never above max", () => {
    const order = { flat: "1", rate: "0.1", min: "2", max: "3.5" };
    expect(feeOf("1", "TRX/6", order)).toBe("2");
    expect(feeOf("10", "TRX/6", order)).toBe("2");
    expect(feeOf("10.00001", "TRX/6", order)).toBe("2.000001");
    expect(feeOf("24.99999", "TRX/6", order)).toBe("3.499999");
    expect(feeOf("25", "TRX/6", order)).toBe("3.5");
    expect(feeOf("1000000", "TRX/6", order)).toBe("3.5");
  });

  test("is rounded up to the coin's smallest unit", () => {
    expect(feeOf("0.000001", "TRX/6", { rate: "0.3" })).toBe("0.000001");
    expect(feeOf("0.000011", "TRX/6", { rate: "0.3" })).toBe("0.000004");
    expect(feeOf("0.00000010", "ETH/18", { rate: "0.3" })).toBe("0.00000003");
    expect(feeOf("1", "TRX/6", { flat: "0.0000000001" })).toBe("0.000001");
    expect(feeOf("1", "TRX/6", { min: "0.0000000001" })).toBe("0.000001");
  });

  test("is less than one unit above the exact value, for any terms, amount and coin", () => {
    const decimal = fc.bigInt({ min: 0n, max: 10n ** 21n });
    const bound = fc.option(decimal);
    fc.assert(
      fc.property(
        fc.constantFrom(...coins),
        fc.bigInt({ min: 1n, max: 10n ** 30n }),
        decimal,
        decimal,
        bound,
        bound,
        ({ decimals }, units, flat, rate, min, max) => {
          const fee = computeFee({ flat, rate, min, max }, { units, asset: `X/${decimals}` }).units;
          // Everything in 10^-(18+decimals) of a coin, so that the oracle divides nothing.
          const unit = 10n ** 18n;
          const scale = 10n ** BigInt(decimals);
          let exact = flat * scale + rate * units;
          if (min !== null && exact < min * scale) exact = min * scale;
          if (max !== null && exact > max * scale) exact = max * scale;
          // The flat part and the share of the amount are each rounded up.
          expect(fee * unit >= exact && fee * unit < exact + 2n * unit).toBe(true);
        },
      ),
      { numRuns: 10_000 },
    );
  });

  test("has terms with as many decimals as any coin", () => {
    expect(Math.max(...coins.map((coin) => coin.decimals))).toBeLessThanOrEqual(FEE_DECIMALS);
  });
});

describe("chooseFeeRow", () => {
  const rows = [
    row("default", null, null),
    row("currency", null, "TRX"),
    row("merchant", "m1", null),
    row("merchant and currency", "m1", "TRX"),
    row("other merchant", "m2", null),
    row("other merchant and currency", "m2", "USDT"),
  ];
  const chosen = (merchantId: string, currencyCode: string): string | undefined =>
    chooseFeeRow(rows, { merchantId, currencyCode })?.id;

  test("prefers merchant and currency, then merchant, then currency, then the default", () => {
    expect(chosen("m1", "TRX")).toBe("merchant and currency");
    expect(chosen("m1", "USDT")).toBe("merchant");
    expect(chosen("m3", "TRX")).toBe("currency");
    expect(chosen("m3", "USDT")).toBe("default");
    expect(chosen("m2", "TRX")).toBe("other merchant");
    expect(chosen("m2", "USDT")).toBe("other merchant and currency");
  });

  test("takes the newest version of a scope, in any order of the rows", () => {
    const versions = [row("v2", null, null, 2), row("v10", null, null, 10), row("v1", null, null, 1)];
    expect(chooseFeeRow(versions, { merchantId: "m", currencyCode: "TRX" })?.id).toBe("v10");
    expect(chooseFeeRow([...versions, ...rows], { merchantId: "m", currencyCode: "TRX" })?.id).toBe("currency");
  });

  test("finds no row where none matches", () => {
    expect(chooseFeeRow([row("currency", null, "TRX")], { merchantId: "m", currencyCode: "USDT" })).toBeUndefined();
  });
});
