// Which transfers a wallet pays next. A transfer gets its nonce only when the wallet has what it sends and what sending may
// cost, beside all that is under way; what the wallet cannot pay waits, with a reason, and others go before it.

import type { Pool, PoolClient } from "pg";
import { failpoint } from "../../kernel/failpoint.ts";
import { assetOf, type Coin } from "../chains/currencies.ts";
import type { PayoutChain } from "../chains/payout-chain.ts";
import { lockTransfer, moveTransfer } from "../transfers/transfer-states.ts";
import { countOnDay, type DailyCaps, readDay } from "./daily-cap.ts";
import {
  type Candidate,
  hasPayoutBegun,
  insertPayout,
  lockChoosable,
  readCandidates,
  readInFlight,
} from "./payout-store.ts";
import { isStopped } from "./payout-stops.ts";
import { inTransaction } from "./payout-transaction.ts";
import { lockWallet, type Wallet, writeNextNonce } from "./wallet-store.ts";

export type Choosing = {
  readonly pool: Pool;
  readonly chain: PayoutChain;
  readonly wallet: Wallet;
  /** The transfers of this chain: all of the sandbox, or a production network's. */
  readonly serves: { readonly environment: string; readonly network: string | null };
  /** How many payouts may be open at once. */
  readonly maxInFlight: number;
  /** How much may go out on a day. */
  readonly dailyCaps: DailyCaps;
  /** Called when a payment waits because of the day's cap. */
  readonly onCapped: (currencyCode: string) => void;
  /** Renews the wallet's lease. False: another engine works on it now. */
  readonly keepsLease: () => Promise<boolean>;
  /** Whether the locked wallet may take a nonce: the books are those that it has paid in. */
  readonly isCurrent: (client: PoolClient, wallet: Wallet) => Promise<boolean>;
};

/** Why a transfer waits: the wallet does not have the coins. The merchant reads it. */
export const WAITS_FOR_FUNDS = "The operator's wallet is being refilled.";

/** Why a transfer waits: enough has gone out today. The merchant reads it. */
export const WAITS_FOR_CAP = "The operator's daily limit for payouts is reached.";

/** How many transfers of a currency one round reads beyond those it may choose: so many can wait without delaying others. */
const LOOK_BEYOND = 100;

/** Takes nonces for transfers that can be paid now. Returns how many. */
export async function chooseTransfers(work: Choosing): Promise<number> {
  const { pool, wallet } = work;
  const inFlight = await readInFlight(pool, wallet.walletId);
  let room = work.maxInFlight - [...inFlight.values()].reduce((sum, { count }) => sum + count, 0);
  if (room <= 0) return 0;
  const candidates = await lookForCandidates(work, room + LOOK_BEYOND);
  if (candidates.length === 0) return 0;
  const float = await readFloat(work, candidates, inFlight);
  // Asking the chain may have taken longer than the lease lasts.
  if (!(await work.keepsLease())) return 0;
  const day = await readDay(pool, wallet.walletId);
  let chosen = 0;
  for (const candidate of candidates) {
    if (room === 0) break;
    if (!isWithinCap(work, day, candidate)) {
      work.onCapped(candidate.coin.currencyCode);
      if (candidate.status === "PENDING") await letWait(pool, candidate, WAITS_FOR_CAP);
      continue;
    }
    if (!float.covers(candidate)) {
      if (candidate.status === "PENDING" && float.isIdle(candidate)) await letWait(pool, candidate, WAITS_FOR_FUNDS);
      continue;
    }
    if (candidate.status === "WAITING") await letGoOn(pool, candidate);
    if (!(await takeNonce(work, candidate))) continue;
    float.take(candidate);
    const asset = assetOf(candidate.coin);
    day.set(asset, (day.get(asset) ?? 0n) + candidate.units);
    room -= 1;
    chosen += 1;
  }
  return chosen;
}

/** The oldest of each currency by itself: transfers that wait for one coin delay no others. The sandbox has enough of all. */
async function lookForCandidates({ pool, chain, serves }: Choosing, limit: number): Promise<readonly Candidate[]> {
  if (serves.environment === "sandbox") return readCandidates(pool, { ...serves, currencies: null, limit });
  const found: Candidate[] = [];
  for (const currency of chain.currencies) {
    found.push(...(await readCandidates(pool, { ...serves, currencies: [currency], limit })));
  }
  // Ids are in the order of time.
  return found.toSorted((one, other) => (one.transferId < other.transferId ? -1 : 1));
}

/** Whether a payment fits into its day, by what was counted when the round began; the wallet's lock has the last word. */
function isWithinCap({ dailyCaps }: Choosing, day: ReadonlyMap<string, bigint>, { coin, units }: Candidate): boolean {
  const cap = dailyCaps[assetOf(coin)];
  return cap === undefined || (day.get(assetOf(coin)) ?? 0n) + units <= cap;
}

/** What a wallet has beyond its open payouts. */
type Float = {
  covers(candidate: Candidate): boolean;
  /** Whether nothing of what it lacks is merely under way. */
  isIdle(candidate: Candidate): boolean;
  take(candidate: Candidate): void;
};

async function readFloat(
  { chain }: Choosing,
  candidates: readonly Candidate[],
  inFlight: Awaited<ReturnType<typeof readInFlight>>,
): Promise<Float> {
  const coins = new Map<string, Coin>(candidates.map(({ coin }) => [assetOf(coin), coin]));
  const { feeCoin } = chain;
  if (feeCoin !== null) coins.set(assetOf(feeCoin), feeCoin);
  const open = [...inFlight.values()].reduce((sum, { count }) => sum + count, 0);
  const fee = feeCoin === null ? null : await chain.suggestFee(null);
  const cost = fee === null ? 0n : chain.mostCost(fee);
  // Mined but not final payouts are subtracted although the balance is without them already: too little for a moment, never
  // too much.
  const left = new Map<string, bigint>();
  for (const [asset, coin] of coins)
    left.set(asset, (await chain.balance(coin)) - (inFlight.get(assetOf(coin))?.units ?? 0n));
  const fees = feeCoin === null ? null : assetOf(feeCoin);
  const add = (asset: string, units: bigint): void => void left.set(asset, (left.get(asset) ?? 0n) + units);
  if (fees !== null) add(fees, -cost * BigInt(open));
  const needs = ({ coin, units }: Candidate): ReadonlyMap<string, bigint> => {
    const asset = assetOf(coin);
    if (fees === null) return new Map([[asset, units]]);
    return fees === asset
      ? new Map([[asset, units + cost]])
      : new Map([
          [asset, units],
          [fees, cost],
        ]);
  };
  return {
    covers: (candidate) => [...needs(candidate)].every(([asset, units]) => (left.get(asset) ?? 0n) >= units),
    isIdle: () => open === 0,
    take: (candidate) => needs(candidate).forEach((units, asset) => add(asset, -units)),
  };
}

/** One transaction takes the nonce and writes what it is for. False: the transfer is no longer to be paid. */
async function takeNonce(
  { pool, wallet, dailyCaps, isCurrent }: Choosing,
  { transferId, coin, units }: Candidate,
): Promise<boolean> {
  const taken = await inTransaction(pool, async (client) => {
    // One signer at a time: the second one sees what the first has chosen.
    const locked = await lockWallet(client, wallet.walletId);
    const { walletId, nextNonce, haltReason } = locked;
    if (haltReason !== null || (await isStopped(client, wallet))) return false;
    if (!(await isCurrent(client, locked))) return false;
    if (!(await lockChoosable(client, transferId))) return false;
    const asset = assetOf(coin);
    if (!(await countOnDay(client, { walletId, asset, units, cap: dailyCaps[asset] }))) return false;
    await insertPayout(client, { walletId, nonce: nextNonce, transferId });
    await writeNextNonce(client, walletId, nextNonce + 1);
    return true;
  });
  if (taken) failpoint?.("after-payout-chosen");
  return taken;
}

async function letWait(pool: Pool, { transferId }: Candidate, reason: string): Promise<void> {
  await inTransaction(pool, async (client) => {
    // The wallet was asked a while ago. Another engine may have found it refilled, and be sending.
    await lockTransfer(client, transferId);
    if (await hasPayoutBegun(client, transferId)) return;
    await moveTransfer(client, { transferId, from: ["PENDING"], to: "WAITING", reason });
  });
}

async function letGoOn(pool: Pool, { transferId }: Candidate): Promise<void> {
  await inTransaction(pool, (client) => moveTransfer(client, { transferId, from: ["WAITING"], to: "PENDING" }));
}
