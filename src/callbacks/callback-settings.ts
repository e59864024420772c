// The address that a receiver is called at and the proof that calls are ours: a secret that signs, and where the kind of receivers has
// one, a token that the receiver may choose.

import type { PoolClient } from "pg";
import type { Database } from "../database/database.ts";
import { withRetry, withTransaction } from "../database/transactions.ts";
import { NotFound, ValidationError } from "../kernel/errors.ts";
import { type Page, type PageRequest, readPage } from "../kernel/paging.ts";
import { newSecretToken } from "../kernel/secret-token.ts";
import type { CallbackKind } from "./callback-kind.ts";
import { type CallbackUrlRules, checkCallbackUrl } from "./callback-url.ts";
import type { Delivery } from "./delivery-log.ts";
import { END_TEXTS } from "./delivery-reasons.ts";
import type { StoredSettings } from "./settings-store.ts";

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
  readonly receiverId: string;
  /** Empty: the receiver is not called. */
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

/** A receiver's settings. */
export async function readCallbackSettings(
  { settings }: CallbackKind,
  { pool }: Pick<Database, "pool">,
  receiverId: string,
): Promise<CallbackSettings> {
  const stored = await settings.read(pool, receiverId);
  return stored === undefined ? NO_SETTINGS : showSettings(stored);
}

/**
 * Sets where a receiver is called, inside the caller's transaction. A receiver that was not called any more is called again from
 * now on. Errors: ValidationError.
 */
export async function changeSettings(
  client: PoolClient,
  { tables, settings, deliveries }: CallbackKind,
  { receiverId, url, token, renewSecret, rules }: SettingsChange & { readonly rules: CallbackUrlRules },
): Promise<ChangedSettings> {
  requireToken(token);
  const checked = url === "" ? null : checkCallbackUrl(url, rules).href;
  const known = await settings.lock(client, receiverId);
  const madeToken = tables.hasToken && token === "" && known === undefined ? newSecretToken("ct_") : "";
  const madeSecret = renewSecret || known === undefined ? newSecretToken("cs_") : "";
  const written = await settings.write(client, {
    receiverId,
    url: checked,
    token: token || madeToken || (known?.token ?? ""),
    secret: madeSecret || (known?.secret ?? ""),
  });
  if (checked === null) await deliveries.failPending(client, receiverId, END_TEXTS.turnedOff);
  return { settings: showSettings(written), token: madeToken, secret: madeSecret };
}

/** Errors: ValidationError. */
export function requireToken(token: string): void {
  if (token === "" || TOKEN_FORM.test(token)) return;
  const message = "must be 8 to 200 letters, digits and signs, without spaces";
  throw new ValidationError([{ field: "token", rule: "token.form", message }]);
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

/** The callbacks of a receiver, newest first. Errors: ValidationError. */
export function listDeliveries(
  { log }: CallbackKind,
  { pool }: Pick<Database, "pool">,
  { receiverId, subjectId, ...page }: { receiverId: string; subjectId: string | null } & PageRequest,
): Promise<Page<Delivery>> {
  return readPage(
    page,
    ({ beforeId, limit }) => log.readPage(pool, { receiverId, subjectId, before: beforeId, limit }),
    ({ eventId }) => eventId,
  );
}

/**
 * Delivers an event once more, now. An attempt that runs at this moment is left to run. An order of the receiver
 * itself, so it may come after later events. Errors: NotFound, ValidationError while the receiver is not called.
 */
export function resend(
  { settings: settingsStore, log }: CallbackKind,
  database: Pick<Database, "pool">,
  asked: { receiverId: string; eventId: string },
): Promise<Delivery> {
  return withRetry(() =>
    withTransaction(database, async (client) => {
      const settings = await settingsStore.lock(client, asked.receiverId);
      const known = settings && (await log.readOne(client, asked));
      if (settings === undefined || known === undefined) throw new NotFound("There is no such delivery.");
      if (settings.url === null || settings.stoppedAt !== null) {
        const message = "cannot be repeated while callbacks are turned off";
        throw new ValidationError([{ field: "deliveryId", rule: "callbacks.off", message }]);
      }
      await log.makeDue(client, asked);
      return (await log.readOne(client, asked)) ?? known;
    }),
  );
}
