// Contracts of the tokens in the table of currencies. A sender who copies the address from a token's page would lose
// the coins: a token contract cannot return them.

import type { Network } from "../chains/currencies.ts";

/** USDT and USDC on each of their networks, in that order. */
export const knownContracts: readonly { readonly network: Network; readonly address: string }[] = [
  { network: "ethereum", address: "0xdAC17F958D2ee523a2206206994597C13D831ec7" },
  { network: "ethereum", address: "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48" },
  { network: "bsc", address: "0x55d398326f99059fF775485246999027B3197955" },
  { network: "bsc", address: "0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d" },
  { network: "tron", address: "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t" },
  { network: "tron", address: "TEkxiTehnzSmSe2XqrBj4w32RUN966rdz8" },
  { network: "solana", address: "Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB" },
  { network: "solana", address: "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v" },
];
