// The webhook of an account: where its alerts are posted, and what became of them. How they are signed, sent and repeated is in `callbacks/`.

import type { Pool } from "pg";
import * as callbacks from "../../callbacks/callback-settings.ts";
import { createCallbackKind } from "../../callbacks/callback-kind.ts";
import type { CallbackUrlRules } from "../../callbacks/callback-url.ts";
import { CallbackDeliverer, type DelivererOptions } from "../../callbacks/deliver-callbacks.ts";
import type { Delivery } from "../../callbacks/delivery-log.ts";
import { forgetDeliveries } from "../../callbacks/forget-deliveries.ts";
import type { Database } from "../../database/database.ts";
import { withRetry, withTransaction } from "../../database/transactions.ts";
import { invariant } from "../../kernel/invariant.ts";
import type { Page, PageRequest } from "../../kernel/paging.ts";
import { alertMessage } from "./alert-message.ts";
import { selectAlert } from "./alert-store.ts";

/** Accounts, whose alerts are each sent for itself. */
const ACCOUNT_WEBHOOKS = createCallbackKind({
  settings: "webhook_settings",
  delivery: "webhook_delivery",
  attempt: "webhook_attempt",
  receiver: "account_id",
  subject: "event_id",
  hasToken: false,
  forget: "forget_webhooks",
  about: { table: "alert_event", column: "type" },
});

/** Deletes the log of posts that is older than so many days; what is open stays. */
export function forgetAlertDeliveries(pool: Pool, days: number): Promise<void> {
  return forgetDeliveries(ACCOUNT_WEBHOOKS, pool, days);
}

/** The secrets of accounts' webhooks. */
export const WEBHOOK_SECRETS = ACCOUNT_WEBHOOKS.settings.secrets;

type Reader = Pick<Database, "pool">;

/** An account's webhook. */
export function readWebhook(database: Reader, accountId: string): Promise<callbacks.CallbackSettings> {
  return callbacks.readCallbackSettings(ACCOUNT_WEBHOOKS, database, accountId);
}

/** Sets an account's webhook; an empty address turns it off. Errors: ValidationError. */
export function setWebhook(
  database: Reader,
  change: { accountId: string; url: string; renewSecret: boolean; rules: CallbackUrlRules },
): Promise<callbacks.ChangedSettings> {
  const { accountId: receiverId, url, renewSecret, rules } = change;
  return withRetry(() =>
    withTransaction(database, (client) =>
      callbacks.changeSettings(client, ACCOUNT_WEBHOOKS, { receiverId, url, token: "", renewSecret, rules }),
    ),
  );
}

/** The alerts that were posted for an account, newest first. Errors: ValidationError. */
export function listAlertDeliveries(
  database: Reader,
  { accountId, ...page }: { accountId: string } & PageRequest,
): Promise<Page<Delivery>> {
  return callbacks.listDeliveries(ACCOUNT_WEBHOOKS, database, { ...page, receiverId: accountId, subjectId: null });
}

/** Posts an alert once more, now. Errors: NotFound, ValidationError while nothing is posted. */
export function resendAlert(
  database: Reader,
  { accountId, eventId }: { accountId: string; eventId: string },
): Promise<Delivery> {
  return callbacks.resend(ACCOUNT_WEBHOOKS, database, { receiverId: accountId, eventId });
}

export type AlertDelivererOptions = Omit<DelivererOptions, "kind" | "messageOf" | "takesAnySuccess"> &
  Pick<CallbackUrlRules, "environment">;

/** What posts alerts. */
export function createAlertDeliverer({ environment, ...options }: AlertDelivererOptions): CallbackDeliverer {
  return new CallbackDeliverer({
    ...options,
    kind: ACCOUNT_WEBHOOKS,
    takesAnySuccess: true,
    async messageOf({ eventId }) {
      const alert = await selectAlert(options.database.pool, eventId);
      invariant(alert !== undefined, "a delivery is of an alert");
      return { environment, body: alertMessage(alert) };
    },
  });
}
