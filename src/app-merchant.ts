// The merchants' part of the composition: what orders, statements and operators' orders are built from.

import type { HandlerContext } from "@connectrpc/connect";
import type { Config } from "./config.ts";
import type { Database } from "./database/database.ts";
import type { Payouts } from "./app-payouts.ts";
import { checkAddress, forbiddenAddresses } from "./merchant/addresses.ts";
import { createCallbackService } from "./merchant/callback-service.ts";
import { createMerchantService } from "./merchant/merchant-service.ts";
import type { Destination } from "./merchant/order.ts";
import { readPayoutAttempts } from "./merchant/payouts/payout-history.ts";
import { hasPayoutBegun } from "./merchant/payouts/payout-store.ts";
import { createMerchantTransferService } from "./merchant/service.ts";
import type { TransferScope } from "./merchant/transfers.ts";
import { orderApproval, orderLimits, orderRejection } from "./operator/transfer-orders.ts";
import { principalOf } from "./rpc/call.ts";
import { accountOf, merchantOf, operatorOf } from "./rpc/callers.ts";
import type { Implementations } from "./rpc/services.ts";

/** The services of merchants. */
export function merchantServices(
  database: Database,
  config: Pick<Config, "callbacksToLoopback">,
  { isServed, ownAddresses }: Pick<Payouts, "isServed" | "ownAddresses">,
): Pick<Implementations, "merchant" | "merchantTransfer"> {
  const by = (context: HandlerContext) => ({ database, operator: operatorOf(context).email });
  const forbidden = forbiddenAddresses(ownAddresses);
  const sources = {
    database,
    checkAddress: (destination: Destination) => checkAddress({ ...destination, forbidden }),
    isServed,
    hasSigningBegun: hasPayoutBegun,
  };
  return {
    merchantTransfer: createMerchantTransferService({ ...sources, merchant: merchantOf }),
    merchant: {
      ...createMerchantService({
        ...sources,
        accountOf,
        scopeOf,
        payoutAttempts: readPayoutAttempts,
        orders: {
          setLimits: (context, order) => orderLimits(by(context), { ...order, reason: null }),
          approve: (context, { transferId, note }) =>
            orderApproval(by(context), { transferId, note: note === "" ? null : note }),
          reject: (context, order) => orderRejection(by(context), order),
        },
      }),
      ...createCallbackService({ database, accountOf, allowLoopback: config.callbacksToLoopback }),
    },
  };
}

/** A merchant sees its own transfers; everybody else those of the account the call acts for. */
function scopeOf(context: HandlerContext): TransferScope {
  const principal = principalOf(context);
  return principal.kind === "merchant" ? { merchantId: principal.merchantId } : { accountId: accountOf(context) };
}
