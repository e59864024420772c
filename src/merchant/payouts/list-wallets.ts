// The wallets that pay transfers out, as an operator sees them: our record of each, and its balances on its chain.

import { setTimeout as wait } from "node:timers/promises";
import type { Pool } from "pg";
import type { Money } from "../../kernel/money.ts";
import type { PayoutChain } from "../chains/payout-chain.ts";
import { assetOf, findCoin } from "../chains/currencies.ts";
import { readWalletFacts, type WalletFacts } from "./payout-facts.ts";

/** A chain that takes longer has not answered: an operator waits for the list. */
const ANSWER_WITHIN_MS = 4_000;

/** A wallet's balance of a currency. */
type WalletBalance = { readonly currencyCode: string; readonly amount: Money };

/** A wallet and its state. */
export type ListedWallet = WalletFacts & {
  /** Whether its key is configured in this process. */
  readonly isConfigured: boolean;
  /** Null: its chain has not answered in time, or its key is not here. Empty: it is never empty and counts nothing. */
  readonly balances: readonly WalletBalance[] | null;
};

/** Every wallet that has paid or can pay, by chain and address. A chain that is away does not keep the others. */
export async function listWallets(
  pool: Pick<Pool, "query">,
  chains: readonly PayoutChain[],
  answerWithinMs = ANSWER_WITHIN_MS,
): Promise<ListedWallet[]> {
  const known = await readWalletFacts(pool);
  const unused = chains.filter((chain) => !known.some((facts) => isOf(facts, chain))).map(withoutPayouts);
  const listed = await Promise.all(
    [...known, ...unused].map(async (facts) => {
      const chain = chains.find((each) => isOf(facts, each));
      const balances = chain === undefined ? null : await readBalances(chain, answerWithinMs);
      return { ...facts, isConfigured: chain !== undefined, balances };
    }),
  );
  return listed.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
}

function isOf({ chain, address }: WalletFacts, { name, wallet }: PayoutChain): boolean {
  return chain === name && address === wallet;
}

function nameOf({ chain, address }: WalletFacts): string {
  return `${chain} ${address}`;
}

/** The wallet of a chain that has not had anything to pay yet. */
function withoutPayouts({ name, wallet }: PayoutChain): WalletFacts {
  return {
    chain: name,
    address: wallet,
    isHalted: false,
    haltedAt: null,
    haltReason: null,
    openPayouts: 0,
    oldestPayoutSeconds: 0,
    oldestUnknownSeconds: 0,
    waiting: 0,
    isStopped: false,
  };
}

async function readBalances(chain: PayoutChain, answerWithinMs: number): Promise<readonly WalletBalance[] | null> {
  // The sandbox's wallet is never empty.
  if (chain.feeCoin === null) return [];
  const asked = Promise.all(
    chain.currencies.map(async (code) => {
      const coin = findCoin(code, chain.name);
      return { currencyCode: code, amount: { units: await chain.balance(coin), asset: assetOf(coin) } };
    }),
  );
  const isAnswered = new AbortController();
  const tooLate = wait(answerWithinMs, null, { signal: isAnswered.signal }).catch(() => null);
  try {
    return await Promise.race([asked, tooLate]);
  } catch {
    // Not knowing is an answer here. The metrics and the log of the engine show that a chain is away.
    return null;
  } finally {
    isAnswered.abort();
    // A late answer is not used.
    asked.catch(() => undefined);
  }
}
