// The merchants' part of the composition: what orders, statements and operators' orders are built from.

import type { HandlerContext } from "@connectrpc/connect";
import { callbackPlaces } from "./callbacks.ts";
import type { Config } from "../config/config.ts";
import type { Database } from "../../database/database.ts";
import type { Payouts } from "./payouts.ts";
import { ValidationError } from "../../kernel/errors.ts";
import { checkAddress, forbiddenAddresses } from "../../merchant/addresses/addresses.ts";
import { createCallbackService } from "../../merchant/callback-service.ts";
import { createMerchantService } from "../../merchant/merchant-service.ts";
import type { Destination } from "../../merchant/transfers/order.ts";
import { readPayoutAttempts } from "../../merchant/payouts/payout-history.ts";
import { hasPayoutBegun } from "../../merchant/payouts/payout-store.ts";
import { createMerchantTransferService } from "../../merchant/service.ts";
import type { TransferScope } from "../../merchant/transfers/transfers.ts";
import { order } from "../../operator/second-person/pending-orders.ts";
import { orderRejection } from "../../operator/commands/transfer-orders.ts";
import { principalOf } from "../../transport/calls/call.ts";
import { accountOf, merchantOf, operatorOf } from "../../transport/calls/callers.ts";
import type { Implementations } from "../../transport/calls/services.ts";

/** The services of merchants. */
export function merchantServices(
  database: Database,
  config: Pick<Config, "callbacksToLoopback" | "callbackHosts" | "sandboxOrdersADay" | "secondPerson">,
  { isServed, ownAddresses, floorOf }: Pick<Payouts, "isServed" | "ownAddresses" | "floorOf">,
): Pick<Implementations, "merchant" | "merchantTransfer"> {
  const by = (context: HandlerContext) => ({ database, operator: operatorOf(context).email });
  const person = (context: HandlerContext) => ({ by: by(context), rule: config.secondPerson });
  const forbidden = forbiddenAddresses(ownAddresses);
  const sources = {
    database,
    sandboxOrdersADay: config.sandboxOrdersADay,
    checkAddress: (destination: Destination) => checkAddress({ ...destination, forbidden }),
    isServed,
    floorOf,
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
          async setLimits(context, limits) {
            const wanted = { ...limits, reason: null };
            const { outcome, pendingOrderId } = await order(person(context), "merchant limit", wanted);
            return { limits: outcome, pendingOrderId };
          },
          async approve(context, { transferId, note }) {
            const wanted = { transferId, note: note === "" ? null : note };
            const { outcome, pendingOrderId } = await order(person(context), "transfer approve", wanted);
            if (outcome !== null) return outcome;
            const message = `waits for a second operator, who approves order ${pendingOrderId}`;
            throw new ValidationError([{ field: "transferId", rule: "order.second_person", message }]);
          },
          reject: (context, rejected) => orderRejection(by(context), rejected),
        },
      }),
      ...createCallbackService({ database, accountOf, ...callbackPlaces(config) }),
    },
  };
}

/** A merchant sees its own transfers; every other caller those of the account that the call acts for. */
function scopeOf(context: HandlerContext): TransferScope {
  const principal = principalOf(context);
  return principal.kind === "merchant" ? { merchantId: principal.merchantId } : { accountId: accountOf(context) };
}
