// The ticks that send transfers out on their chains, and the monitoring of payouts.

import type { Pool } from "pg";
import { type Coin, findCoin, type Network } from "../chains/currencies.ts";
import type { PayoutChain } from "../chains/payout-chain.ts";
import { type Asset, codeOf } from "../../kernel/money.ts";
import { readDays } from "../payouts/daily-cap.ts";
import type { PayoutEngine } from "../payouts/payout-engine.ts";
import { readWalletFacts, type WalletFacts } from "../payouts/payout-facts.ts";
import type { Tick } from "../../workers/tick.ts";

/** The sandbox has a block each second; real chains take several, and each look costs calls to a node. */
const ROUND_MS = { sandbox: 1_000, real: 4_000 } as const;
const WATCH_MS = 15_000;

/** The latest state of payouts. */
export type PayoutFacts = {
  readonly wallets: readonly WalletFacts[];
  /** The balance of each wallet of a real chain, in whole coins, rounded. */
  readonly floats: readonly { readonly chain: string; readonly currency: string; readonly coins: number }[];
  /** Today's payouts as a share of each cap, rounded. */
  readonly dayShares: readonly { readonly chain: string; readonly currency: string; readonly share: number }[];
  /** Whether this node pays nothing on a chain because its journal cannot be used. */
  readonly journals: readonly { readonly chain: string; readonly isUnavailable: boolean }[];
  /** Commands that wait for a second operator. */
  readonly pendingApprovals: number;
  /** When each chain last answered, on the clock of `performance.now()`. */
  readonly answeredAtMs: ReadonlyMap<string, number>;
  /** Since when each wallet's signer has not signed, on the same clock. Null: it does. */
  readonly signerSilentSince: () => ReadonlyMap<string, number | null>;
};

/** Makes the ticks of the engines and of the monitor, and reports the monitor's results. */
export function payoutTicks({
  pool,
  engines,
  countApprovals,
}: {
  pool: Pool;
  engines: readonly PayoutEngine[];
  countApprovals: () => Promise<number>;
}): {
  readonly ticks: Tick[];
  readonly facts: () => PayoutFacts | null;
} {
  let facts: PayoutFacts | null = null;
  const answeredAtMs = new Map(engines.map(({ chain }) => [chain.name, performance.now()]));
  const real = engines.filter(({ chain }) => chain.feeCoin !== null);
  const signerSilentSince = () =>
    new Map(real.map(({ chain }) => [chain.name, chain.signerTrouble()?.sinceMs ?? null]));
  const rounds = engines.map((engine): Tick => ({
    name: `advance payouts on ${engine.chain.name}`,
    everyMs: engine.chain.feeCoin === null ? ROUND_MS.sandbox : ROUND_MS.real,
    run: (signal) => engine.round(signal),
  }));
  const watch: Tick = {
    name: "watch payouts",
    everyMs: WATCH_MS,
    run: async () => {
      // The database's part is reported even while a chain is away.
      const wallets = await readWalletFacts(pool);
      const shares = {
        dayShares: await dayShares(pool, engines),
        journals: journalsOf(engines),
        pendingApprovals: await countApprovals(),
      };
      facts = { wallets, ...shares, floats: facts?.floats ?? [], answeredAtMs, signerSilentSince };
      // A signer that is away is noticed before a payment needs it. The engine reports it, and the metric has it.
      await Promise.all(real.map((engine) => engine.checkSigner()));
      const floats = await Promise.all(
        engines.map(async ({ chain }) => {
          const ofChain = await floatsOf(chain);
          answeredAtMs.set(chain.name, performance.now());
          return ofChain;
        }),
      );
      facts = { wallets, ...shares, floats: floats.flat(), answeredAtMs, signerSilentSince };
    },
  };
  return { ticks: [...rounds, watch], facts: () => facts };
}

function journalsOf(engines: readonly PayoutEngine[]): PayoutFacts["journals"] {
  return engines.flatMap(({ chain, isJournalUnavailable: isUnavailable }) =>
    isUnavailable === null ? [] : [{ chain: chain.name, isUnavailable }],
  );
}

async function dayShares(pool: Pool, engines: readonly PayoutEngine[]): Promise<PayoutFacts["dayShares"]> {
  const days = await readDays(pool);
  return engines.flatMap(({ chain, dailyCaps }) =>
    Object.entries(dailyCaps).map(([asset, cap]) => {
      const day = days.find(
        (each) => each.chain === chain.name && each.address === chain.wallet && each.asset === asset,
      );
      const share = cap === 0n ? 1 : Number(day?.units ?? 0n) / Number(cap);
      return { chain: chain.name, currency: codeOf(asset as Asset), share };
    }),
  );
}

async function floatsOf(chain: PayoutChain): Promise<PayoutFacts["floats"]> {
  // The sandbox's wallet is never empty.
  if (chain.feeCoin === null) return [];
  const coins = chain.currencies.map((code): Coin => findCoin(code, chain.name as Network));
  return Promise.all(
    coins.map(async (coin) => {
      const units = await chain.balance(coin);
      return { chain: chain.name, currency: coin.currencyCode, coins: Number(units) / 10 ** coin.decimals };
    }),
  );
}
