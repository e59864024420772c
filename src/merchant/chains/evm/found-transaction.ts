// Reads a transaction of the wallet that the books do not have: its bytes, and what it pays. After a restore such transactions are payments
// of ours that were made after the moment to which the books were restored.

import {
  type Address,
  decodeFunctionData,
  isAddressEqual,
  keccak256,
  serializeTransaction,
  type Transaction,
  type TransactionSerializable,
} from "viem";
import type { Coin } from "../currencies.ts";
import type { ChainPayment, FoundTransaction } from "../payout-chain.ts";
import { TOKEN_ABI } from "./token-abi.ts";

type Coins = {
  readonly native: Coin;
  readonly tokens: ReadonlyMap<string, { readonly coin: Coin; readonly address: Address }>;
};

/** Reads a transaction. Null: its bytes are of a kind that we never sign. */
export function readTransaction(transaction: Transaction, coins: Coins): FoundTransaction | null {
  const { type, maxFeePerGas: most, maxPriorityFeePerGas: priority } = transaction;
  if (type !== "eip1559" || most === undefined || priority === undefined) return null;
  const { chainId, nonce, gas, to, value, input, accessList, r, s, yParity } = transaction;
  const unsigned: TransactionSerializable = {
    type,
    chainId,
    nonce,
    gas,
    to,
    value,
    data: input,
    accessList,
    maxFeePerGas: most,
    maxPriorityFeePerGas: priority,
  };
  const raw = serializeTransaction(unsigned, { r, s, yParity });
  if (keccak256(raw) !== transaction.hash) throw new Error("the node answered with another transaction");
  return { raw, fee: { most, priority }, payment: paymentOf(transaction, coins) };
}

function paymentOf({ to, value, input }: Transaction, { native, tokens }: Coins): ChainPayment | null {
  if (to === null) return null;
  if (input === "0x") return value > 0n ? { coin: native, to, units: value } : null;
  const token = [...tokens.values()].find(({ address }) => isAddressEqual(address, to));
  if (token === undefined) return null;
  try {
    const call = decodeFunctionData({ abi: TOKEN_ABI, data: input });
    if (call.functionName !== "transfer") return null;
    const [recipient, units] = call.args;
    return { coin: token.coin, to: recipient, units };
  } catch {
    // Another call of the token's contract.
    return null;
  }
}
