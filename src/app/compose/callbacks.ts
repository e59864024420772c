// The part of the composition that sends callbacks about transfers to merchants.

import type { Config } from "../config/config.ts";
import type { Database } from "../../database/database.ts";
import { isDatabaseAway } from "../../database/transactions.ts";
import { writeTransferBody } from "../../transport/rest/transfer-body.ts";
import { createAlertDeliverer } from "../../billing/alerts/account-webhook.ts";
import type { CallbackPlaces, CallbackUrlRules } from "../../callbacks/callback-url.ts";
import type { CallbackDeliverer } from "../../callbacks/deliver-callbacks.ts";
import { createMerchantDeliverer } from "../../merchant/callbacks/transfer-messages.ts";
import type { EventLogger } from "../../kernel/event-logger.ts";

type CallbackConfig = Pick<Config, "callbacksToLoopback" | "callbackHosts">;

/** What merchants may have called. */
export function callbackPlaces({ callbacksToLoopback, callbackHosts }: CallbackConfig): CallbackPlaces {
  return { allowLoopback: callbacksToLoopback, hosts: callbackHosts };
}

/** Where accounts may have alerts posted: as production merchants, and in a demo as those of the sandbox. */
export function webhookRules(config: CallbackConfig & Pick<Config, "demo" | "production">): CallbackUrlRules {
  const environment = config.demo && !config.production ? "sandbox" : "production";
  return { ...callbackPlaces(config), environment };
}

/** What posts alerts to the webhooks of accounts. */
export function createAlertPoster(
  database: Pick<Database, "pool">,
  options: { config: Config; logger: Pick<EventLogger, "warn" | "error"> },
): CallbackDeliverer {
  const { config, logger } = options;
  return createAlertDeliverer({
    database,
    ...webhookRules(config),
    onStopped: (accountId) =>
      logger.warn({ event: "billing.webhook.stopped", accountId }, "no alert was delivered for days"),
    onError: (err) =>
      logger[isDatabaseAway(err) ? "warn" : "error"](
        { event: "billing.webhook.failed", err },
        "an alert was not posted or not recorded",
      ),
  });
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
