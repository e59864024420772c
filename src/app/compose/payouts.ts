// The chains that payouts go out on, from the configuration, and the engines that work on them.

import { LRUCache } from "lru-cache";
import { Gauge, type Registry } from "prom-client";
import { addCounter } from "../observability/metrics.ts";
import { signerNames } from "../config/chains.ts";
import { type Config, ConfigError } from "../config/config.ts";
import { SIGNER_SECRETS } from "../config/signers.ts";
import type { Database } from "../../database/database.ts";
import type { EventLogger } from "../../kernel/event-logger.ts";
import { billingDay, systemClock } from "../../kernel/clock.ts";
import { parseDecimal } from "../../kernel/decimal.ts";
import type { PayoutChain } from "../../merchant/chains/payout-chain.ts";
import type { Asset } from "../../kernel/money.ts";
import { assetOf, type Coin, findCoin, type Network } from "../../merchant/chains/currencies.ts";
import type { DailyCaps } from "../../merchant/payouts/daily-cap.ts";
import { createSandboxChain } from "../../merchant/chains/sandbox/sandbox-chain.ts";
import { BooksGuard } from "../../merchant/payouts/books-guard.ts";
import { journalFolder, SignedJournal } from "../../merchant/payouts/signed-journal.ts";
import { PayoutEngine, type PayoutPolicy, type PayoutTrouble } from "../../merchant/payouts/payout-engine.ts";
import { countPending } from "../../operator/second-person/approval-store.ts";
import type { Floor, IsServed } from "../../merchant/transfers/quote.ts";
import { type PayoutFacts, payoutTicks } from "../../merchant/jobs/payouts.ts";
import type { Tick } from "../../workers/tick.ts";

const LEASE_MS = 15_000;
/** Nodes keep some sixteen transactions of one wallet that wait for each other. */
const REAL_IN_FLIGHT = 16;
/** How many blocks a node may be ahead of its last answer at once, besides those that its chain can have made since. */
const BLOCKS_AT_ONCE = 64;
const SANDBOX: PayoutPolicy = {
  leaseMs: LEASE_MS,
  maxInFlight: 200,
  stuckAfterMs: 10_000,
  giveUpAfterMs: 10_000,
  headPace: null,
  dailyCaps: {},
};

export type Payouts = {
  /** Whether a transfer of a currency can be carried out: the sandbox sends everything, production what is configured. */
  readonly isServed: IsServed;
  /** The least amount and fee of a coin in production; null: nothing pays it there. */
  readonly floorOf: (coin: Coin) => Floor | null;
  /** Addresses of ours on real chains, which no transfer may pay: wallets and contracts of tokens. */
  readonly ownAddresses: readonly { readonly network: Network; readonly address: string }[];
  /** The sandbox and what is configured. */
  readonly chains: readonly PayoutChain[];
  readonly ticks: readonly Tick[];
  /** What goes out on a day at most, by chain. */
  readonly dailyCaps: Readonly<Record<string, DailyCaps>>;
  /** The state of payouts, once the ticks have read it. */
  readonly facts: () => PayoutFacts | null;
  readonly troubles: PayoutTroubles["counts"];
  /** Releases the payouts, so that other processes take over at once. */
  stop(): Promise<void>;
};

/** Makes everything that payouts need. Errors: a private key or a token that cannot be one. */
export async function createPayouts(options: {
  config: Pick<
    Config,
    "chains" | "signers" | "variable" | "programEnvironment" | "dataDir" | "payoutJournalDir" | "requireSyncStandby"
  >;
  database: Database;
  logger: Pick<EventLogger, "error" | "warn">;
}): Promise<Payouts> {
  const { database } = options;
  const { report, counts } = createPayoutTroubles(options.logger);
  const real = await createRealChains(options.config);
  const sandbox = createSandboxChain(database, systemClock);
  const engines = [
    new PayoutEngine({
      pool: database.pool,
      chain: sandbox,
      serves: { environment: "sandbox", network: null },
      policy: SANDBOX,
      report,
      // Its transactions are in the database, so a restore takes them back as well.
      guard: null,
    }),
    ...real
      .filter(({ pays }) => pays)
      .map(
        ({ chain, policy }) =>
          new PayoutEngine({
            pool: database.pool,
            chain,
            serves: { environment: "production", network: chain.name },
            policy,
            report,
            guard: new BooksGuard({
              pool: database.pool,
              journal: new SignedJournal(
                journalFolder(options.config.payoutJournalDir, { chain: chain.name, address: chain.wallet }),
              ),
              requiresStandby: options.config.requireSyncStandby,
            }),
          }),
      ),
  ];
  return {
    isServed: (currencyCode, network, environment) =>
      environment === "sandbox" ||
      real.some(({ chain }) => chain.name === network && chain.currencies.includes(currencyCode)),
    floorOf: (coin) => {
      const floors = real.find(({ chain }) => chain.name === coin.network)?.floors;
      const asset = assetOf(coin);
      return floors === undefined ? null : { least: floors.least[asset] ?? 0n, fee: floors.fee[asset] ?? 0n };
    },
    ownAddresses: real.flatMap(({ network, chain }) => chain.ownAddresses.map((address) => ({ network, address }))),
    chains: [sandbox, ...real.map(({ chain }) => chain)],
    dailyCaps: Object.fromEntries(real.map(({ chain, policy }) => [chain.name, policy.dailyCaps])),
    ...payoutTicks({ pool: database.pool, engines, countApprovals: () => countPending(database.pool) }),
    troubles: counts,
    stop: async () => {
      await Promise.all(engines.map((engine) => engine.resign()));
    },
  };
}

/** The chains of production that are configured. viem is loaded only where there is one. Errors: ConfigError. */
export async function createRealChains(
  config: Pick<Config, "chains" | "signers" | "variable" | "programEnvironment" | "dataDir">,
): Promise<{ network: Network; chain: PayoutChain; pays: boolean; policy: PayoutPolicy; floors: Floors }[]> {
  const { chains, variable } = config;
  if (chains.length === 0) return [];
  const [{ createEvmChain }, { isWatched }, { outsideSigner }] = await Promise.all([
    import("../../merchant/chains/evm/evm-chain.ts"),
    import("../../merchant/chains/evm/wallet.ts"),
    import("./signers.ts"),
  ]);
  return chains.map(
    ({
      keyVariable,
      stuckAfterMs,
      giveUpAfterMs,
      msPerBlock,
      second,
      signer,
      dailyCaps,
      least,
      leastFee,
      ...settings
    }) => {
      const keyOrAddress = variable(keyVariable) ?? "";
      if (signer !== null && keyOrAddress === "")
        throw new ConfigError(`${keyVariable} must be the wallet's address, which \`saldo payout signer\` prints`);
      return {
        network: settings.network,
        chain: createEvmChain({
          ...settings,
          ...(second === null ? {} : { second }),
          ...(signer === null ? {} : { signer: outsideSigner(signer, config) }),
          privateKey: keyOrAddress,
        }),
        // A process that has the wallet's address and no signer leaves paying to others.
        pays: signer !== null || !isWatched(keyOrAddress),
        policy: {
          leaseMs: LEASE_MS,
          maxInFlight: REAL_IN_FLIGHT,
          stuckAfterMs,
          giveUpAfterMs,
          headPace: { blocksAtOnce: BLOCKS_AT_ONCE, msPerBlock },
          dailyCaps: unitsOf(settings.network, dailyCaps),
        },
        floors: { least: unitsOf(settings.network, least), fee: unitsOf(settings.network, leastFee) },
      };
    },
  );
}

/**
 * The variables of a process that offers the chains and does not pay: each wallet's key is its address, and no signer is there. Errors: a
 * wrong key.
 */
export async function withoutWalletKeys({
  chains,
  variable,
  variables,
}: Pick<Config, "chains" | "variable" | "variables">): Promise<Record<string, string>> {
  const own = variables();
  const { openWallet } = await import("../../merchant/chains/evm/wallet.ts");
  for (const secret of SIGNER_SECRETS) for (const name of [secret, `${secret}_FILE`]) delete own[name];
  for (const { keyVariable, network, signer } of chains) {
    delete own[`${keyVariable}_FILE`];
    own[keyVariable] = openWallet(variable(keyVariable) ?? "", network).address;
    if (signer === null) continue;
    const { kind, key } = signerNames(network);
    for (const name of [kind, key]) for (const each of [name, `${name}_FILE`]) delete own[each];
    own[`SALDO_${network.toUpperCase()}_KEY_VARIABLE`] = keyVariable;
  }
  return own;
}

type Units = Readonly<Record<Asset, bigint>>;
type Floors = { readonly least: Units; readonly fee: Units };

/** Amounts in whole coins as units of each asset. Errors: an unknown currency, or more decimals than the coin has. */
function unitsOf(network: Network, amounts: Readonly<Record<string, string>>): Units {
  return Object.fromEntries(
    Object.entries(amounts).map(([code, amount]) => {
      const coin = findCoin(code, network);
      return [assetOf(coin), parseDecimal(amount, coin.decimals)];
    }),
  );
}

/** What engines reported. */
type PayoutTroubles = {
  readonly report: (trouble: PayoutTrouble) => void;
  /** How often each kind was reported of each chain. */
  readonly counts: () => Iterable<PayoutTroubleCount>;
};

type PayoutTroubleCount = Pick<PayoutTrouble, "kind" | "chain"> & { readonly count: number };

/** Payouts whose fee is too high that are remembered as logged; far more than wait for lower fees at a time. */
const MOST_LOGGED = 10_000;

/** What every round reports again while it lasts. */
const LASTING: ReadonlySet<PayoutTrouble["kind"]> = new Set([
  "fee_too_high",
  "finality_doubted",
  "head_leap",
  "holder_unknown",
  "lost_name_taken",
  "daily_cap",
  "signer_silent",
  "wrong_signer",
]);

/**
 * Makes the receiver of engines' reports: they are logged, and counted for the metrics. That a payout waits for lower fees is
 * reported with every round and logged once.
 */
export function createPayoutTroubles(logger: Pick<EventLogger, "error" | "warn">): PayoutTroubles {
  const counts = new Map<string, PayoutTroubleCount>();
  const logged = new LRUCache<string, true>({ max: MOST_LOGGED });
  return {
    counts: () => counts.values(),
    report(trouble) {
      const { kind, chain } = trouble;
      const name = `${kind} ${chain}`;
      counts.set(name, { kind, chain, count: (counts.get(name)?.count ?? 0) + 1 });
      if (LASTING.has(kind)) {
        const subject = [kind, chain, "nonce" in trouble ? trouble.nonce : "", timeOf(trouble)].join(" ");
        if (logged.get(subject) === true) return;
        logged.set(subject, true);
      }
      logTrouble(logger, trouble);
    },
  };
}

/** A cap is logged on each day that it is reached, and a signer's trouble in each hour. */
function timeOf({ kind, ...trouble }: PayoutTrouble): string {
  if ("currency" in trouble) return `${trouble.currency} ${billingDay(Date.now())}`;
  return kind === "signer_silent" || kind === "wrong_signer" ? new Date().toISOString().slice(0, 13) : "";
}

const MESSAGES: Readonly<Record<PayoutTrouble["kind"], readonly ["error" | "warn", string]>> = {
  payout_failed: ["warn", "a payout made no progress; it is tried again"],
  fee_too_high: ["warn", "a payout would have to offer more than its chain is allowed to; it waits for lower fees"],
  foreign_nonce: ["error", "another signer has used a wallet's key; nothing more is signed with it"],
  holder_unknown: [
    "error",
    "a wallet's nonce is used, and the chain node does not show by which transaction; it takes no nonce",
  ],
  head_leap: ["error", "a chain node is further ahead than its chain can be; its answers are not used"],
  finality_doubted: ["error", "a chain node calls a block final that is not believed; the payout waits"],
  payment_vanished: [
    "error",
    "a final payment is not in its chain any more; the wallet is stopped and the payment sent again",
  ],
  daily_cap: ["error", "a wallet has reached its daily cap; transfers wait until tomorrow or a higher cap"],
  books_changed: ["error", "the books may lack payments of a wallet; it is stopped until an operator has looked"],
  journals_compared: ["warn", "every node's journal has been compared with the books; the wallet signs again"],
  journal_failed: ["error", "this node's journal of signed payouts cannot be used; other nodes pay in its place"],
  journal_copied: ["error", "another node has a copy of this node's payout journal; it has another name now"],
  journal_torn: ["warn", "a payout journal ends with an incomplete line, which was not broadcast"],
  signer_silent: ["error", "a wallet's signer does not sign; its payouts wait until it does"],
  wrong_signer: ["error", "a wallet's signer has another key than the wallet's; nothing that it has signed is used"],
  lost_name_taken: [
    "error",
    "another order has the externalId of a transfer that the books have lost; payout resume --adopt has it under another name",
  ],
  payment_short: ["error", "a token delivered less than was sent; the wallet is stopped until an operator decides"],
};

function logTrouble(logger: Pick<EventLogger, "error" | "warn">, trouble: PayoutTrouble): void {
  const [level, message] = MESSAGES[trouble.kind];
  const { error: err, ...facts } = { error: undefined, ...trouble, event: `payout.${trouble.kind}` as const };
  logger[level](err === undefined ? facts : { ...facts, err }, message);
}

/** Adds the metrics of payouts; the alarms on them are in deploy/ALARMS.md. */
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
  ofWallets("saldo_wallet_halted", "1 while nothing is signed until an operator has looked at why", ({ isHalted }) =>
    Number(isHalted),
  );
  ofWallets("saldo_payouts_stopped", "1 while an operator has stopped a wallet's payouts", ({ isStopped }) =>
    Number(isStopped),
  );
  gauge(
    "saldo_payout_journal_unavailable",
    "1 while this node pays nothing because its journal of signed payouts cannot be used",
    ["chain"],
    ({ journals }) => journals.map(({ chain, isUnavailable }) => [{ chain }, Number(isUnavailable)]),
  );
  gauge(
    "saldo_wallet_day_share",
    "What a wallet's payouts of today are of its daily cap, by currency; transfers wait near 1",
    ["chain", "currency"],
    ({ dayShares }) => dayShares.map(({ chain, currency, share }) => [{ chain, currency }, share]),
  );
  gauge("saldo_approvals_pending", "Commands that wait for a second operator", [], ({ pendingApprovals }) => [
    [{}, pendingApprovals],
  ]);
  ofWallets("saldo_transfers_waiting", "Transfers that wait for the wallet to be refilled", ({ waiting }) => waiting);
  gauge("saldo_wallet_float", "What a wallet has, in whole coins", ["chain", "currency"], ({ floats }) =>
    floats.map(({ chain, currency, coins }) => [{ chain, currency }, coins]),
  );
  gauge("saldo_chain_silent_seconds", "How long a chain has not answered", ["chain"], ({ answeredAtMs }) =>
    [...answeredAtMs].map(([chain, atMs]) => [{ chain }, (performance.now() - atMs) / 1_000]),
  );
  gauge(
    "saldo_signer_silent_seconds",
    "How long the signer of a wallet has not signed; 0: it does",
    ["chain"],
    ({ signerSilentSince }) =>
      [...signerSilentSince()].map(([chain, sinceMs]) => [
        { chain },
        sinceMs === null ? 0 : (performance.now() - sinceMs) / 1_000,
      ]),
  );
  addCounter(registry, {
    name: "saldo_payout_troubles_total",
    help: "What kept payouts from getting on, by kind and chain, once each time that it did",
    labelNames: ["kind", "chain"],
    read: () => [...troubles()].map(({ kind, chain, count }) => [{ kind, chain }, count]),
  });
}
