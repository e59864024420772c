// The address of a merchant's callbacks and the proof that they are ours: a token that it may choose, and a secret of ours that signs.

import type { PoolClient } from "pg";
import type { Database } from "../../database/database.ts";
import { withRetry, withTransaction } from "../../database/transactions.ts";
import { NotFound, ValidationError } from "../../kernel/errors.ts";
import { type Page, type PageRequest, readPage } from "../../kernel/paging.ts";
import { newSecretToken } from "../../kernel/secret-token.ts";
import { requireMerchant } from "../merchants/store.ts";
import { type CallbackPlaces, checkCallbackUrl } from "./callback-url.ts";
import { type Delivery, makeDue, readDeliveries, readDelivery } from "./log-store.ts";
import { failPending, lockSettings, readSettings, type StoredSettings, writeSettings } from "./store.ts";

/** Settings as they can be shown again. Absent texts are empty. */
export type CallbackSettings = {
  readonly url: string;
  readonly tokenLastFour: string;
  readonly secretLastFour: string;
  readonly updatedAt: Date | null;
  /** When we stopped calling, because nothing had come through for days. */
  readonly stoppedAt: Date | null;
};

/** New settings; the token and the secret are seen here and nowhere else, and only where they were made just now. */
export type ChangedSettings = { readonly settings: CallbackSettings; readonly token: string; readonly secret: string };

export type SettingsChange = {
  readonly merchantId: string;
  /** Empty: the merchant is not called. */
  readonly url: string;
  /** Empty: the one there is stays; the first is made. */
  readonly token: string;
  readonly renewSecret: boolean;
};

/** The characters of a header: a token must be sendable in one. */
const TOKEN_FORM = /^[\x21-\x7e]{8,200}$/;
const SHOWN_CHARACTERS = 4;
const NO_SETTINGS: CallbackSettings = {
  url: "",
  tokenLastFour: "",
  secretLastFour: "",
  updatedAt: null,
  stoppedAt: null,
};

/** A merchant's settings. Errors: NotFound. */
export async function getCallbackSettings(
  { pool }: Pick<Database, "pool">,
  merchantId: string,
): Promise<CallbackSettings> {
  await requireMerchant(pool, merchantId);
  const stored = await readSettings(pool, merchantId);
  return stored === undefined ? NO_SETTINGS : showSettings(stored);
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
  { merchantId, url, token, renewSecret }: SettingsChange,
): Promise<ChangedSettings> {
  if (token !== "" && !TOKEN_FORM.test(token)) {
    const message = "must be 8 to 200 letters, digits and signs, without spaces";
    throw new ValidationError([{ field: "token", rule: "token.form", message }]);
  }
  const environment = await requireMerchant(client, merchantId);
  const checked = url === "" ? null : checkCallbackUrl(url, { ...places, environment }).href;
  const known = await lockSettings(client, merchantId);
  const madeToken = token === "" && known === undefined ? newSecretToken("ct_") : "";
  const madeSecret = renewSecret || known === undefined ? newSecretToken("cs_") : "";
  const written = await writeSettings(client, {
    merchantId,
    url: checked,
    token: token || madeToken || (known?.token ?? ""),
    secret: madeSecret || (known?.secret ?? ""),
  });
  if (checked === null) await failPending(client, merchantId, "Callbacks were turned off.");
  return { settings: showSettings(written), token: madeToken, secret: madeSecret };
}

function showSettings({ url, token, secret, stoppedAt, updatedAt }: StoredSettings): CallbackSettings {
  return {
    url: url ?? "",
    tokenLastFour: token.slice(-SHOWN_CHARACTERS),
    secretLastFour: secret.slice(-SHOWN_CHARACTERS),
    stoppedAt,
    updatedAt,
  };
}

/** The callbacks of a merchant's transfers, newest first. Errors: NotFound, ValidationError. */
export async function listDeliveries(
  { pool }: Pick<Database, "pool">,
  { merchantId, transferId: givenTransferId, ...page }: { merchantId: string; transferId: string } & PageRequest,
): Promise<Page<Delivery>> {
  await requireMerchant(pool, merchantId);
  const transferId = givenTransferId === "" ? null : givenTransferId;
  return readPage(
    page,
    ({ beforeId, limit }) => readDeliveries(pool, { merchantId, transferId, before: beforeId, limit }),
    ({ eventId }) => eventId,
  );
}

/**
 * Delivers an event once more, now. An attempt that runs at this moment is left to run. An order of the merchant
 * itself, so it may come after later events. Errors: NotFound, ValidationError while the merchant is not called.
 */
export function resendCallback(
  database: Pick<Database, "pool">,
  asked: { merchantId: string; eventId: string },
): Promise<Delivery> {
  return withRetry(() =>
    withTransaction(database, async (client) => {
      const settings = await lockSettings(client, asked.merchantId);
      const known = settings && (await readDelivery(client, asked));
      if (settings === undefined || known === undefined) throw new NotFound("There is no such delivery.");
      if (settings.url === null || settings.stoppedAt !== null) {
        const message = "cannot be repeated while callbacks are turned off";
        throw new ValidationError([{ field: "deliveryId", rule: "callbacks.off", message }]);
      }
      await makeDue(client, asked);
      return (await readDelivery(client, asked)) ?? known;
    }),
  );
}
