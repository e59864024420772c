import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseDecimal } from "../../kernel/decimal.ts";
import { formatMoney } from "../../kernel/money.ts";
import { parseAmount } from "./amount.ts";
import { coins, findCoin } from "../chains/currencies.ts";
import { FEE_DECIMALS, type FeeRow } from "../merchants/fee-schedule.ts";
import { priceTransfer } from "./quote.ts";

type Bounds = { readonly min?: string | undefined; readonly max?: string | undefined };

function feeRow(flat: string, rate: string, { min, max }: Bounds = {}): FeeRow {
  const fine = (text: string): bigint => parseDecimal(text, FEE_DECIMALS);
  const bounds = { min: min === undefined ? null : fine(min), max: max === undefined ? null : fine(max) };
  const terms = { flat: fine(flat), rate: fine(rate), ...bounds };
  return { id: "row", merchantId: null, currencyCode: null, version: 1, createdAt: new Date(0), ...terms };
}

function print(currencyCode: string, amount: string, row: FeeRow): string[] {
  const coin = findCoin(currencyCode);
  const quote = priceTransfer({ coin, received: parseAmount(amount, coin), feeRow: row });
  return [quote.fee, quote.received, quote.total].map(formatMoney);
}

/** Adds two plain decimals digit by digit, as on paper: no bigint, no floating point. */
function addOnPaper(a: string, b: string): string {
  const [aWhole = "", aFraction = ""] = a.split(".");
  const [bWhole = "", bFraction = ""] = b.split(".");
  const decimals = Math.max(aFraction.length, bFraction.length);
  const width = Math.max(aWhole.length, bWhole.length) + 1;
  const left = aWhole.padStart(width, "0") + aFraction.padEnd(decimals, "0");
  const right = bWhole.padStart(width, "0") + bFraction.padEnd(decimals, "0");
  let carry = 0;
  let digits = "";
  for (let at = left.length - 1; at >= 0; at -= 1) {
    const column = Number(left.charAt(at)) + Number(right.charAt(at)) + carry;
    digits = String(column % 10) + digits;
    carry = column >= 10 ? 1 : 0;
  }
  const whole = digits.slice(0, width).replace(/^0+(?=\d)/, "");
  const fraction = digits.slice(width).replace(/0+$/, "");
  return fraction === "" ? whole : `${whole}.${fraction}`;
}

describe("priceTransfer", () => {
  test("prices 5 at a rate of 0.3 as 1.5, 5 and 6.5", () => {
    expect(print("USDT", "5", feeRow("0", "0.3"))).toEqual(["1.5", "5", "6.5"]);
    expect(print("USDT", "5.000", feeRow("0", "0.3"))).toEqual(["1.5", "5", "6.5"]);
  });

  test("prices TRX 10 by a flat row as 16.7, 10 and 26.7", () => {
    expect(print("TRX", "10", feeRow("16.7", "0"))).toEqual(["16.7", "10", "26.7"]);
  });

  test("does not drift where floating point would", () => {
    expect(print("ETH", "0.1", feeRow("0.2", "0"))).toEqual(["0.2", "0.1", "0.3"]);
    expect(print("BTC", "0.07", feeRow("0", "0.3"))).toEqual(["0.021", "0.07", "0.091"]);
    expect(print("ETH", "1.000000000000000001", feeRow("0", "1"))).toEqual([
      "1.000000000000000001",
      "1.000000000000000001",
      "2.000000000000000002",
    ]);
    expect(print("SOL", "1e-9", feeRow("0", "0.3"))).toEqual(["0.000000001", "0.000000001", "0.000000002"]);
  });

  test("prints a total that is received plus fee in every digit, for 20 000 random amounts", () => {
    const amount = fc.constantFrom(...coins).chain((coin) =>
      fc.record({
        coin: fc.constant(coin),
        whole: fc.bigInt({ min: 1n, max: 10n ** 11n }),
        fraction: fc.stringMatching(new RegExp(`^\\d{0,${coin.decimals}}$`)),
      }),
    );
    const term = fc.stringMatching(/^\d{1,2}\.\d{1,18}$/).map((text) => text.replace(/^0+(?=\d)/, ""));
    const bound = fc.option(term, { nil: undefined });
    fc.assert(
      fc.property(amount, term, term, bound, bound, ({ coin, whole, fraction }, flat, rate, min, max) => {
        const sent = fraction === "" ? String(whole) : `${whole}.${fraction}`;
        const [fee = "", received = "", total = ""] = (() => {
          const quote = priceTransfer({
            coin,
            received: parseAmount(sent, coin),
            feeRow: feeRow(flat, rate, { min, max }),
          });
          return [quote.fee, quote.received, quote.total].map(formatMoney);
        })();
        expect(total).toBe(addOnPaper(received, fee));
        expect(received).toBe(addOnPaper(sent, "0"));
        for (const printed of [fee, received, total]) expect(printed).toMatch(/^(0|[1-9]\d*)(\.\d*[1-9])?$/);
        for (const printed of [fee, received, total]) {
          expect((printed.split(".")[1] ?? "").length).toBeLessThanOrEqual(coin.decimals);
        }
      }),
      { numRuns: 20_000 },
    );
  });
});
