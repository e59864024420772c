import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { PayoutService } from "#gen/saldo/operator/v1/payout_service_pb.ts";
import { invariant } from "../../kernel/invariant.ts";
import { ValidationError } from "../../kernel/errors.ts";
import { type Asset, codeOf, formatMoney } from "../../kernel/money.ts";
import { readDays } from "../../merchant/payouts/daily-cap.ts";
import { type ListedWallet, listWallets } from "../../merchant/payouts/list-wallets.ts";
import { listStops, type PayoutStop, type StopScope } from "../../merchant/payouts/payout-stops.ts";
import { resumeWallet, startPayouts, stopPayouts } from "../commands/payouts.ts";
import { moment, type Parts } from "./proto-parts.ts";

/** PayoutService: wallets that pay transfers out, and stops of payouts. */
export function createPayoutService({
  database,
  operatorContext,
  payoutChains: chains,
  dailyCaps,
}: Pick<Parts, "database" | "operatorContext" | "payoutChains" | "dailyCaps">): ServiceImpl<typeof PayoutService> {
  const { pool } = database;
  const stops = async () => (await listStops(pool)).map(toProtoStop);
  return {
    async listPayoutWallets() {
      const [wallets, days] = await Promise.all([listWallets(pool, chains), readDays(pool)]);
      return {
        wallets: wallets.map((wallet) => ({ ...toProtoWallet(wallet), caps: toProtoCaps(wallet, dailyCaps, days) })),
        stops: await stops(),
      };
    },

    async stopPayouts(command, context) {
      const isNew = await stopPayouts(operatorContext(context), scopeOf(command));
      return { stops: await stops(), isNew };
    },

    async startPayouts(command, context) {
      const isNew = await startPayouts(operatorContext(context), scopeOf(command));
      return { stops: await stops(), isNew };
    },

    async resumePayoutWallet({ chain, reason, stoppedAt }, context) {
      // The contract lets no request without it through.
      invariant(stoppedAt !== undefined, "a command to resume a wallet names its stop");
      const { foreignNonces, isNew } = await resumeWallet(operatorContext(context), {
        chains,
        name: chain,
        stoppedAt: timestampDate(stoppedAt),
        reason,
      });
      return { foreignNonces, isNew };
    },
  };
}

/** Errors: ValidationError for a wallet without its chain. */
function scopeOf({ chain, address, reason }: StopScope & { readonly reason: string }) {
  if (chain === "" && address !== "") {
    throw new ValidationError([{ field: "chain", rule: "chain.of_address", message: "must be named with an address" }]);
  }
  return { chain, address, reason };
}

function toProtoStop({ stoppedAt, ...stop }: PayoutStop) {
  return { ...stop, stoppedAt: timestampFromDate(stoppedAt) };
}

function toProtoCaps(
  { chain, address }: ListedWallet,
  dailyCaps: Parts["dailyCaps"],
  days: Awaited<ReturnType<typeof readDays>>,
) {
  return (Object.entries(dailyCaps?.[chain] ?? {}) as [Asset, bigint][]).map(([asset, cap]) => {
    const day = days.find((each) => each.chain === chain && each.address === address && each.asset === asset);
    const shown = (units: bigint): string => formatMoney({ units, asset });
    return { currencyCode: codeOf(asset), used: shown(day?.units ?? 0n), cap: shown(cap) };
  });
}

function toProtoWallet({ balances, ...wallet }: ListedWallet) {
  return {
    chain: wallet.chain,
    address: wallet.address,
    stopped: wallet.isHalted,
    stopReason: wallet.haltReason ?? "",
    ...moment("stoppedAt", wallet.haltedAt),
    configured: wallet.isConfigured,
    openPayouts: wallet.openPayouts,
    oldestPayoutSeconds: Math.floor(wallet.oldestPayoutSeconds),
    oldestUnknownSeconds: Math.floor(wallet.oldestUnknownSeconds),
    waitingTransfers: wallet.waiting,
    balancesKnown: balances !== null,
    balances: (balances ?? []).map(({ currencyCode, amount }) => ({ currencyCode, amount: formatMoney(amount) })),
  };
}
