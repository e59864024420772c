// The currencies that can be sent, with their networks. A scale belongs to a currency on a network: a USDT has 6
// decimals on Ethereum and 18 on BSC. Scales never change, because amounts are stored in smallest units.

import type { Asset } from "../../kernel/money.ts";
import { CurrencyUnsupported } from "../../kernel/transfer-errors.ts";

/** A chain, by the name the contracts use. */
export type Network = "bitcoin" | "litecoin" | "ethereum" | "bsc" | "tron" | "solana";

/** A currency on one network: only this pair gives an amount its scale. */
export type Coin = { readonly currencyCode: string; readonly network: Network; readonly decimals: number };

type Scales = readonly (readonly [Network, number])[];

// The first network of a currency is its usual one, used when none is named. A Map, unlike an object, has no inherited
// names such as `__proto__`.
const scalesByCurrency: ReadonlyMap<string, Scales> = new Map<string, Scales>([
  ["BTC", [["bitcoin", 8]]],
  ["LTC", [["litecoin", 8]]],
  ["ETH", [["ethereum", 18]]],
  ["BNB", [["bsc", 18]]],
  ["TRX", [["tron", 6]]],
  ["SOL", [["solana", 9]]],
  [
    "USDT",
    [
      ["ethereum", 6],
      ["tron", 6],
      ["solana", 6],
      ["bsc", 18],
    ],
  ],
  [
    "USDC",
    [
      ["ethereum", 6],
      ["tron", 6],
      ["solana", 6],
      ["bsc", 18],
    ],
  ],
]);

/** Every currency on each of its networks. */
export const coins: readonly Coin[] = [...scalesByCurrency].flatMap(([currencyCode, scales]) =>
  scales.map(([network, decimals]) => ({ currencyCode, network, decimals })),
);

/** The currency on the named network, or on its usual one when the name is empty. Errors: CurrencyUnsupported. */
export function findCoin(currencyCode: string, network = ""): Coin {
  const scales = scalesByCurrency.get(currencyCode) ?? [];
  const found = network === "" ? scales[0] : scales.find(([name]) => name === network);
  if (found === undefined) throw new CurrencyUnsupported();
  return { currencyCode, network: found[0], decimals: found[1] };
}

/** Whether a currency has any network. */
export function isCurrency(currencyCode: string): boolean {
  return scalesByCurrency.has(currencyCode);
}

/** The asset of a coin in the ledger. */
export function assetOf(coin: Coin): Asset {
  return `${coin.currencyCode}/${coin.decimals}`;
}
