// The settings and deliveries of a merchant's callbacks: what `callbacks/` does, for merchants that exist.

import type { PoolClient } from "pg";
import * as callbacks from "../../callbacks/callback-settings.ts";
import type { CallbackPlaces } from "../../callbacks/callback-url.ts";
import type { Delivery } from "../../callbacks/delivery-log.ts";
import type { Database } from "../../database/database.ts";
import { withRetry, withTransaction } from "../../database/transactions.ts";
import type { Page, PageRequest } from "../../kernel/paging.ts";
import { requireMerchant } from "../merchants/store.ts";
import { MERCHANT_CALLBACKS } from "./store.ts";

type ChangedSettings = callbacks.ChangedSettings;

export type SettingsChange = Omit<callbacks.SettingsChange, "receiverId"> & { readonly merchantId: string };

/** A merchant's settings. Errors: NotFound. */
export async function getCallbackSettings(
  database: Pick<Database, "pool">,
  merchantId: string,
): Promise<callbacks.CallbackSettings> {
  await requireMerchant(database.pool, merchantId);
  return callbacks.readCallbackSettings(MERCHANT_CALLBACKS, database, merchantId);
}

/** A change of the settings. */
export type SettingsSources = CallbackPlaces & { readonly database: Pick<Database, "pool"> };

/** The same as `changeCallbackSettings`, in a transaction of its own. */
export function updateCallbackSettings(sources: SettingsSources, change: SettingsChange): Promise<ChangedSettings> {
  return withRetry(() =>
    withTransaction(sources.database, (client) => changeCallbackSettings(client, sources, change)),
  );
}

/**
 * Sets where a merchant is called, inside the caller's transaction. A merchant that was not called any more is called again from
 * now on. Errors: NotFound, ValidationError.
 */
export async function changeCallbackSettings(
  client: PoolClient,
  places: CallbackPlaces,
  { merchantId, ...change }: SettingsChange,
): Promise<ChangedSettings> {
  callbacks.requireToken(change.token);
  const rules = { ...places, environment: await requireMerchant(client, merchantId) };
  return callbacks.changeSettings(client, MERCHANT_CALLBACKS, { ...change, receiverId: merchantId, rules });
}

/** The callbacks of a merchant's transfers, newest first. Errors: NotFound, ValidationError. */
export async function listDeliveries(
  database: Pick<Database, "pool">,
  { merchantId, transferId, ...page }: { merchantId: string; transferId: string } & PageRequest,
): Promise<Page<Delivery>> {
  await requireMerchant(database.pool, merchantId);
  const subjectId = transferId === "" ? null : transferId;
  return callbacks.listDeliveries(MERCHANT_CALLBACKS, database, { ...page, receiverId: merchantId, subjectId });
}

/** Delivers an event once more, now. Errors: NotFound, ValidationError while the merchant is not called. */
export function resendCallback(
  database: Pick<Database, "pool">,
  { merchantId, eventId }: { merchantId: string; eventId: string },
): Promise<Delivery> {
  return callbacks.resend(MERCHANT_CALLBACKS, database, { receiverId: merchantId, eventId });
}
