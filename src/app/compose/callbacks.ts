// The part of the composition that tells merchants of their transfers.

import type { Logger } from "pino";
import type { Config } from "../config/config.ts";
import type { Database } from "../../database/database.ts";
import { isDatabaseAway } from "../../database/transactions.ts";
import { writeTransferBody } from "../../transport/rest/transfer-body.ts";
import { CallbackDeliverer } from "../../merchant/callbacks/deliver-callbacks.ts";

/** What delivers callbacks. */
export function createCallbackDeliverer(
  database: Pick<Database, "pool">,
  { config, logger }: { config: Pick<Config, "callbacksToLoopback">; logger: Pick<Logger, "warn" | "error"> },
): CallbackDeliverer {
  return new CallbackDeliverer({
    database,
    allowLoopback: config.callbacksToLoopback,
    writeBody: writeTransferBody,
    onStopped: (merchantId) =>
      logger.warn({ merchantId }, "a merchant could not be called for days and is not any more"),
    onError: (err) =>
      logger[isDatabaseAway(err) ? "warn" : "error"]({ err }, "a callback was not made or not recorded"),
  });
}
