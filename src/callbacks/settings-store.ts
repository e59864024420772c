// SQL of receivers' settings. The row of a receiver is locked by every change of its deliveries, except creating them; so
// limits and order per receiver are exact over all nodes.

import type { Pool, PoolClient } from "pg";
import { waitForLocks } from "../database/transactions.ts";
import type { SecretColumns } from "../database/secrets/secret-columns.ts";
import { readSecretForm } from "../database/secrets/secret-state.ts";
import { invariant } from "../kernel/invariant.ts";
import { openText, sealText } from "../kernel/sealed-text.ts";
import type { CallbackTables } from "./callback-tables.ts";

type Queryable = Pick<Pool | PoolClient, "query">;

/** The address of a receiver, and its token and secret. */
export type StoredSettings = {
  /** Null: the receiver is not called. */
  readonly url: string | null;
  /** Empty: the receiver has none. */
  readonly token: string;
  readonly secret: string;
  /** When we stopped calling because nothing had come through for days; null: we have not. */
  readonly stoppedAt: Date | null;
  readonly updatedAt: Date;
};
type SettingsColumns = {
  receiver_id: string;
  url: string | null;
  token: string | null;
  secret: string;
  stopped_at: Date | null;
  updated_at: Date;
};

/** The settings of one kind of receivers. */
export type SettingsStore = {
  /** The secrets of the settings. */
  readonly secrets: SecretColumns;
  /** A receiver's settings; undefined: none were ever set. */
  read(client: Queryable, receiverId: string): Promise<StoredSettings | undefined>;
  /** Locks a receiver's settings, and with them its deliveries. */
  lock(client: PoolClient, receiverId: string): Promise<StoredSettings | undefined>;
  /** The same, unless another process has the lock. */
  tryLock(client: PoolClient, receiverId: string): Promise<StoredSettings | undefined>;
  /** Writes a receiver's settings; a receiver that was not called any more is called again. */
  write(
    client: PoolClient,
    settings: { receiverId: string; url: string | null; token: string; secret: string },
  ): Promise<StoredSettings>;
};

/** The secrets of receivers' settings. */
export function secretsOf({ settings, receiver, hasToken }: CallbackTables): SecretColumns {
  return {
    table: settings,
    id: receiver,
    idType: "uuid",
    columns: hasToken ? ["token", "secret"] : ["secret"],
    nameOf: (column, receiverId) => `${settings}.${column}/${receiverId}`,
    formerIs: "sealed",
  };
}

/** Makes the store. */
export function createSettingsStore(tables: CallbackTables): SettingsStore {
  const { settings, receiver, hasToken } = tables;
  const shown = `${receiver} AS receiver_id, url, ${hasToken ? "token" : "NULL AS token"}, secret, stopped_at, updated_at`;
  const read = `SELECT ${shown} FROM ${settings} WHERE ${receiver} = $1::uuid`;
  const lock = `${read} FOR NO KEY UPDATE`;
  const tryLock = `${lock} SKIP LOCKED`;
  const write = `
INSERT INTO ${settings} (${receiver}, url, secret${hasToken ? ", token" : ""}) VALUES ($1::uuid, $2, $3${hasToken ? ", $4" : ""})
ON CONFLICT (${receiver}) DO UPDATE SET url = $2, secret = $3${hasToken ? ", token = $4" : ""}, failing_since = NULL, stopped_at = NULL,
  updated_at = clock_timestamp()
RETURNING ${shown}`;
  const secrets = secretsOf(tables);
  const open = (row: SettingsColumns | undefined): StoredSettings | undefined =>
    row === undefined
      ? undefined
      : {
          url: row.url,
          token: row.token === null ? "" : openText(secrets.nameOf("token", row.receiver_id), row.token),
          secret: openText(secrets.nameOf("secret", row.receiver_id), row.secret),
          stoppedAt: row.stopped_at,
          updatedAt: row.updated_at,
        };
  const firstOf = async (client: Queryable, text: string, values: unknown[]): Promise<StoredSettings | undefined> =>
    open((await client.query<SettingsColumns>(text, values)).rows[0]);

  return {
    secrets,
    read: (client, receiverId) => firstOf(client, read, [receiverId]),
    async lock(client, receiverId) {
      await waitForLocks(client);
      return firstOf(client, lock, [receiverId]);
    },
    tryLock: (client, receiverId) => firstOf(client, tryLock, [receiverId]),
    async write(client, { receiverId, url, token, secret }) {
      const form = await readSecretForm(client);
      const sealed = (column: string, text: string): string => sealText(secrets.nameOf(column, receiverId), text, form);
      const values = [receiverId, url, sealed("secret", secret), ...(hasToken ? [sealed("token", token)] : [])];
      const written = await firstOf(client, write, values);
      invariant(written !== undefined, "settings that were written are there");
      return written;
    },
  };
}
