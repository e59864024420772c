// Finds the transaction that used up a nonce, whoever signed it: the only proof that a transaction of ours with that nonce is
// dead. Nodes have no index for it, so it is looked for in the block in which the wallet's count of transactions passed it.

import { type Address, type Hex, isAddressEqual, type PublicClient } from "viem";

type Question = { readonly address: Address; readonly nonce: number; readonly latest: number };
type Found = { readonly hash: Hex; readonly block: { readonly number: number; readonly hash: Hex } };

/**
 * The transaction of an address with a nonce, in blocks up to the latest. Null: nobody has used the nonce there. Errors: a node
 * that no longer knows the state of those blocks, or a chain that was reorganized while it was asked; then nothing is proven.
 */
export async function findNonceHolder(
  client: PublicClient,
  { address, nonce, latest }: Question,
): Promise<Found | null> {
  const isUsedAt = async (block: number): Promise<boolean> =>
    (await client.getTransactionCount({ address, blockNumber: BigInt(block) })) > nonce;
  if (!(await isUsedAt(latest))) return null;
  // Used at `used`, not at `free`. What is asked about is mostly new, so the steps back begin small.
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
  return { hash: holder.hash, block: { number: used, hash: block.hash } };
}
