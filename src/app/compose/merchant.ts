// The merchants' part of the composition: what their services are built from.

import { callbackPlaces } from "./callbacks.ts";
import type { Config } from "../config/config.ts";
import type { Database } from "../../database/database.ts";
import type { Payouts } from "./payouts.ts";
import { checkAddress, forbiddenAddresses } from "../../merchant/addresses/addresses.ts";
import { requirePairRole } from "../../identity/members/member-roles.ts";
import { createCallbackService } from "../../merchant/callback-service.ts";
import { createMerchantService } from "../../merchant/merchant-service.ts";
import type { Destination } from "../../merchant/transfers/order.ts";
import { readPayoutAttempts } from "../../merchant/payouts/payout-history.ts";
import { hasPayoutBegun } from "../../merchant/payouts/payout-store.ts";
import { createMerchantTransferService } from "../../merchant/service.ts";
import { accountOf, memberOf, merchantOrAccountOf } from "../../transport/calls/callers.ts";
import type { Implementations } from "../../transport/calls/services.ts";

/** The services of merchants. */
export function merchantServices(
  database: Database,
  config: Pick<Config, "callbacksToLoopback" | "callbackHosts" | "sandboxOrdersADay">,
  { isServed, ownAddresses, floorOf }: Pick<Payouts, "isServed" | "ownAddresses" | "floorOf">,
): Pick<Implementations, "merchant" | "merchantTransfer" | "callback"> {
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
    merchantTransfer: createMerchantTransferService({
      ...sources,
      callerOf: merchantOrAccountOf,
      payoutAttempts: readPayoutAttempts,
    }),
    merchant: createMerchantService({ database, isServed, accountOf, memberOf, requireRole: requirePairRole }),
    callback: createCallbackService({ database, accountOf, ...callbackPlaces(config) }),
  };
}
