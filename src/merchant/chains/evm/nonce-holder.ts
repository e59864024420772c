// Finds the transaction that used up a nonce, whether we signed it or not: only this proves that our own transaction with that
// nonce is dead. Nodes have no index for it, so it is searched in the block in which the wallet's transaction count
// passed the nonce.

import { type Address, type Hex, isAddressEqual, type PublicClient, type Transaction } from "viem";

type Question = { readonly address: Address; readonly nonce: number; readonly latest: number };
type Found = {
  readonly hash: Hex;
  readonly block: { readonly number: number; readonly hash: Hex };
  readonly transaction: Transaction;
};

/**
 * The transaction of an address with a nonce, in blocks up to the latest. Null: the nonce is unused there. Errors: a
 * node without the state of those blocks, or a chain that was reorganized during the search; then nothing is proven.
 */
export async function findNonceHolder(
  client: PublicClient,
  { address, nonce, latest }: Question,
): Promise<Found | null> {
  const isUsedAt = async (block: number): Promise<boolean> =>
    (await client.getTransactionCount({ address, blockNumber: BigInt(block) })) > nonce;
  if (!(await isUsedAt(latest))) return null;
  // The nonce is used at `used`, and not at `free`. Most searches are for recent blocks, so the steps back begin small.
  let used = latest;
  let free = -1;
  for (let step = 1; used > 0; step *= 2) {
    const earlier = Math.max(used - step, 0);
    if (!(await isUsedAt(earlier))) {
      free = earlier;
      break;
    }
    used = earlier;
  }
  while (used - free > 1) {
    const middle = Math.floor((used + free) / 2);
    if (await isUsedAt(middle)) used = middle;
    else free = middle;
  }
  const block = await client.getBlock({ blockNumber: BigInt(used), includeTransactions: true });
  const holder = block.transactions.find((each) => each.nonce === nonce && isAddressEqual(each.from, address));
  if (holder === undefined || block.hash === null) throw new Error(`block ${used} was replaced while it was looked at`);
  return { hash: holder.hash, block: { number: used, hash: block.hash }, transaction: holder };
}
