// Signing a transaction: only what is wrong with the transaction itself is final. Everything that a signer does may pass.

import { keccak256, serializeTransaction, toHex, type TransactionSerializableEIP1559 } from "viem";
import { type SignedTransaction, UnsignablePayment } from "../payout-chain.ts";
import type { Wallet } from "./wallet.ts";

/**
 * Signs what `make` returns. Errors: UnsignablePayment, where the same order never makes a transaction; those of the signer, which may
 * pass.
 */
export async function signTransaction(
  { signer }: Wallet,
  make: () => TransactionSerializableEIP1559,
): Promise<SignedTransaction> {
  if (signer === null) throw new Error("this process watches the wallet and does not pay out of it");
  const { transaction, unsigned } = made(make);
  const { r, s, v } = await signer.sign(keccak256(unsigned));
  const raw = serializeTransaction(transaction, { r: toHex(r, { size: 32 }), s: toHex(s, { size: 32 }), yParity: v });
  return { raw, hash: keccak256(raw) };
}

function made(make: () => TransactionSerializableEIP1559) {
  try {
    const transaction = make();
    // It checks the fields as well.
    return { transaction, unsigned: serializeTransaction(transaction) };
  } catch (error) {
    throw new UnsignablePayment("the payment cannot be signed", { cause: error });
  }
}
