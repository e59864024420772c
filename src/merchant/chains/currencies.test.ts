import { describe, expect, test } from "vitest";
import { CurrencyUnsupported } from "../../kernel/transfer-errors.ts";
import { assetOf, coins, findCoin, isCurrency } from "./currencies.ts";

describe("findCoin", () => {
  test("uses the usual network when none is named", () => {
    const usual = ["BTC", "LTC", "ETH", "BNB", "TRX", "SOL", "USDT", "USDC"].map((code) => findCoin(code));
    expect(usual.map((coin) => `${coin.currencyCode} ${coin.network} ${coin.decimals}`)).toEqual([
      "BTC bitcoin 8",
      "LTC litecoin 8",
      "ETH ethereum 18",
      "BNB bsc 18",
      "TRX tron 6",
      "SOL solana 9",
      "USDT ethereum 6",
      "USDC ethereum 6",
    ]);
  });

  test("gives one currency the scale of its network", () => {
    for (const currencyCode of ["USDT", "USDC"]) {
      expect(["ethereum", "tron", "solana", "bsc"].map((network) => assetOf(findCoin(currencyCode, network)))).toEqual([
        `${currencyCode}/6`,
        `${currencyCode}/6`,
        `${currencyCode}/6`,
        `${currencyCode}/18`,
      ]);
    }
  });

  test("finds every coin of the table by its own name", () => {
    for (const coin of coins) expect(findCoin(coin.currencyCode, coin.network)).toEqual(coin);
  });

  test("refuses an unknown currency, an unknown network and a currency on another's network", () => {
    for (const [code, network] of [
      ["XYZ", ""],
      ["trx", ""],
      ["", ""],
      ["TRX", "ethereum"],
      ["USDT", "bitcoin"],
      ["USDT", "Ethereum"],
    ] as const) {
      expect(() => findCoin(code, network)).toThrow(CurrencyUnsupported);
    }
  });

  test("does not find names of JavaScript's own objects", () => {
    for (const name of ["__proto__", "constructor", "toString", "hasOwnProperty", "0", "length"]) {
      expect(isCurrency(name)).toBe(false);
      expect(() => findCoin(name)).toThrow(CurrencyUnsupported);
      expect(() => findCoin("USDT", name)).toThrow(CurrencyUnsupported);
    }
  });
});
