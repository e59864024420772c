import { timestampDate } from "@bufbuild/protobuf/wkt";
import { invariant } from "../kernel/invariant.ts";
import { formatMoney } from "../kernel/money.ts";
import { type ListedWallet, listWallets } from "../merchant/payouts/list-wallets.ts";
import { orderResume } from "./payout-orders.ts";
import { type Methods, moment, type Parts } from "./proto-parts.ts";

/** The wallets that pay transfers out. */
export function walletMethods({
  database,
  orderedBy,
  payoutChains: chains,
}: Parts): Methods<"listPayoutWallets" | "resumePayoutWallet"> {
  return {
    async listPayoutWallets() {
      return { wallets: (await listWallets(database.pool, chains)).map(toProtoWallet) };
    },

    async resumePayoutWallet({ chain, reason, stoppedAt }, context) {
      // The contract lets no request without it through.
      invariant(stoppedAt !== undefined, "an order to resume a wallet names its stop");
      return orderResume(orderedBy(context), { chains, name: chain, stoppedAt: timestampDate(stoppedAt), reason });
    },
  };
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
