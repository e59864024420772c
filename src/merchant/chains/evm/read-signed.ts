// What the bytes of a signed transaction do, read from the bytes alone: the audit compares them with the books.

import {
  decodeFunctionData,
  type Hex,
  keccak256,
  parseTransaction,
  recoverTransactionAddress,
  type TransactionSerializedEIP1559,
} from "viem";
import type { SignedContents } from "../payout-chain.ts";
import { TOKEN_ABI } from "./token-abi.ts";

/** Null: the bytes are no transaction of the kind that we sign. */
export function readSignedTransaction(raw: string): SignedContents | null {
  try {
    const { nonce, to, value, data = "0x" } = parseTransaction(raw as TransactionSerializedEIP1559);
    // A nonce of 0 and a value of 0 are absent in what viem returns.
    const contents = { hash: keccak256(raw as Hex), nonce: nonce ?? 0 };
    if (to === undefined || to === null) return null;
    if (data === "0x") return { ...contents, to, units: value ?? 0n, contract: null };
    const call = decodeFunctionData({ abi: TOKEN_ABI, data });
    if (call.functionName !== "transfer" || (value ?? 0n) !== 0n) return null;
    const [recipient, units] = call.args;
    return { ...contents, to: recipient, units, contract: to };
  } catch {
    return null;
  }
}

/** The address whose key signed the bytes. Null: the signature is of no key. It takes about a millisecond. */
export async function signerOf(raw: string): Promise<string | null> {
  return recoverTransactionAddress({ serializedTransaction: raw as TransactionSerializedEIP1559 }).catch(() => null);
}
