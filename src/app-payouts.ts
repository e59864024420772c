// The chains that payouts go out on, from the configuration, and the engines that work on them.

import { LRUCache } from "lru-cache";
import type { Logger } from "pino";
import { Gauge, type Registry } from "prom-client";
import { addCounter } from "./app-metrics.ts";
import type { Config } from "./config.ts";
import type { Database } from "./database/database.ts";
import { systemClock } from "./kernel/clock.ts";
import type { PayoutChain } from "./merchant/chains/payout-chain.ts";
import type { Network } from "./merchant/currencies.ts";
import { createSandboxChain } from "./merchant/chains/sandbox/sandbox-chain.ts";
import { PayoutEngine, type PayoutPolicy, type PayoutTrouble } from "./merchant/payouts/payout-engine.ts";
import type { IsServed } from "./merchant/quote.ts";
import { type PayoutFacts, payoutTicks } from "./workers/payouts.ts";
import type { Tick } from "./workers/tick.ts";

const LEASE_MS = 15_000;
/** Nodes keep some sixteen transactions of one wallet that wait for each other. */
const REAL_IN_FLIGHT = 16;
const SANDBOX: PayoutPolicy = { leaseMs: LEASE_MS, maxInFlight: 200, stuckAfterMs: 10_000, giveUpAfterMs: 10_000 };

export type Payouts = {
  /** Whether a transfer of a currency can be carried out: the sandbox sends everything, production what is configured. */
  readonly isServed: IsServed;
  /** Addresses of ours on real chains, which no transfer may pay: wallets and contracts of tokens. */
  readonly ownAddresses: readonly { readonly network: Network; readonly address: string }[];
  /** The sandbox and what is configured. */
  readonly chains: readonly PayoutChain[];
  readonly ticks: readonly Tick[];
  /** How payouts stand, once the ticks have looked. */
  readonly facts: () => PayoutFacts | null;
  readonly troubles: PayoutTroubles["counts"];
  /** Lets other processes take over at once. */
  stop(): Promise<void>;
};

/** Makes everything that payouts need. Errors: a private key or a token that cannot be one. */
export async function createPayouts(options: {
  config: Pick<Config, "chains" | "variable">;
  database: Database;
  logger: Pick<Logger, "error" | "warn">;
}): Promise<Payouts> {
  const { database } = options;
  const { report, counts } = createPayoutTroubles(options.logger);
  const real = await createRealChains(options.config);
  const engines = [
    new PayoutEngine({
      pool: database.pool,
      chain: createSandboxChain(database, systemClock),
      serves: { environment: "sandbox", network: null },
      policy: SANDBOX,
      report,
    }),
    ...real.map(
      ({ chain, policy }) =>
        new PayoutEngine({
          pool: database.pool,
          chain,
          serves: { environment: "production", network: chain.name },
          policy,
          report,
        }),
    ),
  ];
  return {
    isServed: (currencyCode, network, environment) =>
      environment === "sandbox" ||
      real.some(({ chain }) => chain.name === network && chain.currencies.includes(currencyCode)),
    ownAddresses: real.flatMap(({ network, chain }) => chain.ownAddresses.map((address) => ({ network, address }))),
    chains: engines.map(({ chain }) => chain),
    ...payoutTicks({ pool: database.pool, engines }),
    troubles: counts,
    stop: async () => {
      await Promise.all(engines.map((engine) => engine.resign()));
    },
  };
}

/** The chains of production that are configured. viem is loaded only where there is one. */
export async function createRealChains({
  chains,
  variable,
}: Pick<Config, "chains" | "variable">): Promise<{ network: Network; chain: PayoutChain; policy: PayoutPolicy }[]> {
  if (chains.length === 0) return [];
  const { createEvmChain } = await import("./merchant/chains/evm/evm-chain.ts");
  return chains.map(({ keyVariable, stuckAfterMs, giveUpAfterMs, ...settings }) => ({
    network: settings.network,
    chain: createEvmChain({ ...settings, privateKey: variable(keyVariable) ?? "" }),
    policy: { leaseMs: LEASE_MS, maxInFlight: REAL_IN_FLIGHT, stuckAfterMs, giveUpAfterMs },
  }));
}

/** What engines reported. */
type PayoutTroubles = {
  readonly report: (trouble: PayoutTrouble) => void;
  /** How often each kind was reported of each chain. */
  readonly counts: () => Iterable<PayoutTroubleCount>;
};

type PayoutTroubleCount = Pick<PayoutTrouble, "kind" | "chain"> & { readonly count: number };

/** Payouts whose fee is too high that are remembered as logged; far more than wait for lower fees at a time. */
const MOST_TOLD = 10_000;

/**
 * Makes the receiver of engines' reports: they are logged, and counted for the metrics. That a payout waits for lower fees is
 * reported with every round and logged once.
 */
export function createPayoutTroubles(logger: Pick<Logger, "error" | "warn">): PayoutTroubles {
  const counts = new Map<string, PayoutTroubleCount>();
  const told = new LRUCache<string, true>({ max: MOST_TOLD });
  return {
    counts: () => counts.values(),
    report(trouble) {
      const { kind, chain, nonce } = trouble;
      const name = `${kind} ${chain}`;
      counts.set(name, { kind, chain, count: (counts.get(name)?.count ?? 0) + 1 });
      if (kind === "fee_too_high") {
        const payout = `${chain} ${nonce}`;
        if (told.get(payout) === true) return;
        told.set(payout, true);
      }
      tell(logger, trouble);
    },
  };
}

function tell(logger: Pick<Logger, "error" | "warn">, trouble: PayoutTrouble): void {
  if (trouble.kind === "payout_failed") {
    const { error: err, ...facts } = trouble;
    logger.warn({ ...facts, err }, "a payout did not get on; it is tried again");
  } else if (trouble.kind === "fee_too_high") {
    logger.warn(trouble, "a payout would have to offer more than its chain is allowed to; it waits for lower fees");
  } else {
    logger.error(trouble, "somebody else has used a wallet's key; nothing more is signed with it");
  }
}

/** Adds what is told of payouts; workers/README.md says when each is an alarm. */
export function addPayoutMetrics(registry: Registry, { facts, troubles }: Pick<Payouts, "facts" | "troubles">): void {
  const gauge = <Label extends string>(
    name: string,
    help: string,
    labelNames: Label[],
    read: (now: PayoutFacts) => [Record<Label, string>, number][],
  ): void => {
    const each: Gauge<Label> = new Gauge({
      name,
      help,
      labelNames,
      registers: [registry],
      collect() {
        const now = facts();
        each.reset();
        if (now !== null) for (const [labels, value] of read(now)) each.set(labels, value);
      },
    });
  };
  const ofWallets = (name: string, help: string, read: (wallet: PayoutFacts["wallets"][number]) => number): void =>
    gauge(name, help, ["chain"], ({ wallets }) => wallets.map((wallet) => [{ chain: wallet.chain }, read(wallet)]));
  ofWallets("saldo_payouts_open", "Payouts that have not ended", ({ openPayouts }) => openPayouts);
  ofWallets(
    "saldo_oldest_payout_seconds",
    "Age of the oldest payout that has not ended",
    (wallet) => wallet.oldestPayoutSeconds,
  );
  ofWallets(
    "saldo_payout_unknown_seconds",
    "Age of the oldest transaction that was handed over and never seen",
    (wallet) => wallet.oldestUnknownSeconds,
  );
  ofWallets(
    "saldo_wallet_halted",
    "1 while nothing is signed, because somebody else has used the key",
    ({ isHalted }) => Number(isHalted),
  );
  ofWallets("saldo_transfers_waiting", "Transfers that wait for the wallet to be refilled", ({ waiting }) => waiting);
  gauge("saldo_wallet_float", "What a wallet has, in whole coins", ["chain", "currency"], ({ floats }) =>
    floats.map(({ chain, currency, coins }) => [{ chain, currency }, coins]),
  );
  gauge("saldo_chain_silent_seconds", "How long a chain has not answered", ["chain"], ({ answeredAtMs }) =>
    [...answeredAtMs].map(([chain, atMs]) => [{ chain }, (performance.now() - atMs) / 1_000]),
  );
  addCounter(registry, {
    name: "saldo_payout_troubles_total",
    help: "What kept payouts from getting on, by kind and chain, once each time that it did",
    labelNames: ["kind", "chain"],
    read: () => [...troubles()].map(({ kind, chain, count }) => [{ kind, chain }, count]),
  });
}
