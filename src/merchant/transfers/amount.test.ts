import { describe, expect, test } from "vitest";
import { LimitExceeded, ValidationError } from "../../kernel/errors.ts";
import { AmountPrecision } from "../../kernel/transfer-errors.ts";
import { MAX_AMOUNT_COINS, parseAmount } from "./amount.ts";
import { coins, findCoin } from "../chains/currencies.ts";

const trx = findCoin("TRX");

/** The problem of a text, as field and rule. */
function problem(text: string): unknown {
  try {
    return parseAmount(text, trx);
  } catch (error) {
    return error instanceof ValidationError ? error.details.map(({ field, rule }) => `${field} ${rule}`) : error;
  }
}

describe("parseAmount", () => {
  test("reads 5, 5.0 and 5.00000000000 as the same", () => {
    for (const text of ["5", "5.0", "5.00000000000", "0.5e1"]) {
      expect(parseAmount(text, trx)).toEqual({ units: 5_000_000n, asset: "TRX/6" });
    }
  });

  test("refuses zero, negative numbers and other text as a validation error about the amount", () => {
    for (const text of [
      "0",
      "0.0",
      "0.00000000000",
      "0e10",
      "-1",
      "-0",
      "1e400",
      "",
      " 5",
      "NaN",
      "five",
      "0x5",
      "1,5",
    ]) {
      expect(() => parseAmount(text, trx)).toThrow(ValidationError);
    }
    expect(problem("0")).toEqual(["amount decimal.gt"]);
    expect(problem("-1")).toEqual(["amount decimal"]);
  });

  test("accepts as many decimals as the coin has and not one more", () => {
    for (const coin of coins) {
      const finest = `0.${"0".repeat(coin.decimals - 1)}1`;
      expect(parseAmount(finest, coin).units).toBe(1n);
      expect(parseAmount(`${finest}000`, coin).units).toBe(1n);
      expect(() => parseAmount(`0.${"0".repeat(coin.decimals)}1`, coin)).toThrow(AmountPrecision);
    }
  });

  test("names the currency, the network and its decimals when there are too many", () => {
    expect(() => parseAmount("0.0000001", findCoin("USDT"))).toThrow("USDT on ethereum has at most 6 decimals");
    expect(parseAmount("0.0000001", findCoin("USDT", "bsc")).units).toBe(10n ** 11n);
  });

  test("accepts the largest amount and refuses one unit more", () => {
    for (const coin of coins) {
      const nines = "9".repeat(coin.decimals);
      expect(parseAmount(String(MAX_AMOUNT_COINS), coin).units).toBe(MAX_AMOUNT_COINS * 10n ** BigInt(coin.decimals));
      expect(parseAmount(`${MAX_AMOUNT_COINS - 1n}.${nines}`, coin).units).toBeGreaterThan(0n);
      const oneMore = `${MAX_AMOUNT_COINS}.${"0".repeat(coin.decimals - 1)}1`;
      expect(() => parseAmount(oneMore, coin)).toThrow(LimitExceeded);
    }
    expect(() => parseAmount("1e40", trx)).toThrow(LimitExceeded);
  });
});
