import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InvariantError } from "./invariant.ts";
import {
  add,
  type Asset,
  codeOf,
  divideCeil,
  divideFloor,
  formatMoney,
  IDR,
  idr,
  parseMoney,
  scaleOf,
} from "./money.ts";

const RUNS = { numRuns: 10_000 };
const assets: Asset[] = ["IDR/6", "BTC/8", "ETH/18", "USDT/6"];
const asset = fc.constantFrom(...assets);
const amount = fc.bigInt({ min: 0n, max: 10n ** 38n });

describe("money", () => {
  test("is printed and read back without a change", () => {
    fc.assert(
      fc.property(amount, asset, (units, of) => {
        expect(parseMoney(formatMoney({ units, asset: of }), of)).toEqual({ units, asset: of });
      }),
      RUNS,
    );
  });

  test("is added to the unit", () => {
    fc.assert(
      fc.property(amount, amount, asset, (a, b, of) => {
        const sum = add({ units: a, asset: of }, { units: b, asset: of });
        expect(sum).toEqual({ units: a + b, asset: of });
      }),
      RUNS,
    );
  });

  test("of different assets is never added, not even of another scale of one currency", () => {
    expect(() => add(idr(1n), { units: 1n, asset: "USDT/6" })).toThrow(InvariantError);
    expect(() => add({ units: 1n, asset: "USDT/18" }, { units: 1n, asset: "USDT/6" })).toThrow(InvariantError);
  });

  test("shows a price of a few micro-rupiah exactly", () => {
    expect(formatMoney(idr(18_750n))).toBe("0.01875");
    expect(parseMoney("0.01875", IDR)).toEqual(idr(18_750n));
  });

  test("names its code and scale in the asset", () => {
    expect([codeOf("USDT/18"), scaleOf("USDT/18")]).toEqual(["USDT", 18]);
    expect([codeOf(IDR), scaleOf(IDR)]).toEqual(["IDR", 6]);
  });
});

describe("division", () => {
  test("rounds in the chosen direction, by less than one unit", () => {
    fc.assert(
      fc.property(amount, fc.bigInt({ min: 1n, max: 10n ** 20n }), (a, b) => {
        const [down, up] = [divideFloor(a, b), divideCeil(a, b)];
        expect(down * b <= a && a < (down + 1n) * b).toBe(true);
        expect((up - 1n) * b < a && a <= up * b).toBe(true);
      }),
      RUNS,
    );
  });

  test("refuses a negative dividend and a divisor that is not positive", () => {
    for (const divide of [divideCeil, divideFloor]) {
      expect(() => divide(-1n, 1n)).toThrow(InvariantError);
      expect(() => divide(1n, 0n)).toThrow(InvariantError);
      expect(() => divide(1n, -1n)).toThrow(InvariantError);
    }
  });
});
