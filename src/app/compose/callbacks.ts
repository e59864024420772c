// The part of the composition that sends callbacks about transfers to merchants.

import type { Config } from "../config/config.ts";
import type { Database } from "../../database/database.ts";
import { isDatabaseAway } from "../../database/transactions.ts";
import { writeTransferBody } from "../../transport/rest/transfer-body.ts";
import type { CallbackPlaces } from "../../callbacks/callback-url.ts";
import type { CallbackDeliverer } from "../../callbacks/deliver-callbacks.ts";
import { createMerchantDeliverer } from "../../merchant/callbacks/transfer-messages.ts";
import type { EventLogger } from "../../kernel/event-logger.ts";

type CallbackConfig = Pick<Config, "callbacksToLoopback" | "callbackHosts">;

/** What merchants may have called. */
export function callbackPlaces({ callbacksToLoopback, callbackHosts }: CallbackConfig): CallbackPlaces {
  return { allowLoopback: callbacksToLoopback, hosts: callbackHosts };
}

/** What delivers callbacks. */
export function createCallbackDeliverer(
  database: Pick<Database, "pool">,
  { config, logger }: { config: CallbackConfig; logger: Pick<EventLogger, "warn" | "error"> },
): CallbackDeliverer {
  return createMerchantDeliverer({
    database,
    ...callbackPlaces(config),
    writeBody: writeTransferBody,
    onStopped: (merchantId) =>
      logger.warn({ event: "merchant.callbacks.stopped", merchantId }, "no callback was delivered for days"),
    onError: (err) =>
      logger[isDatabaseAway(err) ? "warn" : "error"](
        { event: "merchant.callback.failed", err },
        "a callback was not made or not recorded",
      ),
  });
}
