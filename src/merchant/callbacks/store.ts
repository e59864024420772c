// SQL of callbacks. Every change of a merchant's deliveries, except creating them, is made behind the lock of the merchant's
// row of settings; so limits and order per merchant are exact over all nodes.

import type { Pool, PoolClient } from "pg";
import { waitForLocks } from "../../database/transactions.ts";
import { uuidv7 } from "../../kernel/ids.ts";
import { invariant } from "../../kernel/invariant.ts";
import { openText, sealText } from "../../kernel/sealed-text.ts";
import type { SecretColumns } from "../../database/secrets/secret-columns.ts";
import { readSecretForm } from "../../database/secrets/secret-state.ts";

type Queryable = Pick<Pool | PoolClient, "query">;

/** For how long the delivery of an event is tried. */
export const GIVE_UP_AFTER = "3 days";
/** How long an attempt has a delivery for itself: far longer than it may take. */
const LEASE = "60 seconds";
/** After this time without a single success a merchant is not called any more. */
const STOP_AFTER = "7 days";

/**
 * Makes the callback of an event that the statement around it has written. Later events of a transfer are due no sooner than
 * one before them that waits for a receiver who is away.
 */
export const INSERT_CALLBACK_OF_EVENT = `
INSERT INTO callback_delivery (event_id, event_at, transfer_id, merchant_id, next_attempt_at, give_up_at)
SELECT event.id, event.created_at, t.id, s.merchant_id,
  coalesce((SELECT max(d.next_attempt_at) FROM callback_delivery d
    WHERE d.transfer_id = t.id AND d.state = 'pending' AND NOT d.is_leased AND NOT d.is_passable), event.created_at),
  event.created_at + interval '${GIVE_UP_AFTER}'
FROM event JOIN transfer t ON t.id = event.transfer_id
  JOIN callback_settings s ON s.merchant_id = t.merchant_id AND s.url IS NOT NULL AND s.stopped_at IS NULL`;

const SETTINGS = `SELECT merchant_id, url, token, secret, stopped_at, updated_at FROM callback_settings WHERE merchant_id = $1::uuid`;
const LOCK_SETTINGS = `${SETTINGS} FOR NO KEY UPDATE`;
const TRY_SETTINGS = `${LOCK_SETTINGS} SKIP LOCKED`;
const WRITE_SETTINGS = `
INSERT INTO callback_settings (merchant_id, url, token, secret) VALUES ($1::uuid, $2, $3, $4)
ON CONFLICT (merchant_id) DO UPDATE SET url = $2, token = $3, secret = $4, failing_since = NULL, stopped_at = NULL,
  updated_at = clock_timestamp()
RETURNING merchant_id, url, token, secret, stopped_at, updated_at`;

// Steps from merchant to merchant by the index: a receiver that is away may leave many deliveries behind.
const WAITING = `
WITH RECURSIVE waiting AS (
  (SELECT merchant_id, next_attempt_at FROM callback_delivery WHERE state = 'pending'
   ORDER BY merchant_id, next_attempt_at LIMIT 1)
  UNION ALL
  SELECT next.* FROM waiting w CROSS JOIN LATERAL (
    SELECT d.merchant_id, d.next_attempt_at FROM callback_delivery d
    WHERE d.state = 'pending' AND d.merchant_id > w.merchant_id ORDER BY d.merchant_id, d.next_attempt_at LIMIT 1) next
)
SELECT w.merchant_id, s.failing_since IS NOT NULL AS is_failing
FROM waiting w JOIN callback_settings s USING (merchant_id)
WHERE w.next_attempt_at <= statement_timestamp() ORDER BY is_failing, w.next_attempt_at LIMIT $1`;
// A transfer has at most one attempt at a time: of the oldest event that is due.
const CLAIM = `
WITH due AS (
  SELECT d.event_id FROM callback_delivery d
  WHERE d.merchant_id = $1::uuid AND d.state = 'pending' AND d.next_attempt_at <= statement_timestamp()
    AND NOT EXISTS (
      SELECT FROM callback_delivery o
      WHERE o.transfer_id = d.transfer_id AND o.state = 'pending' AND o.event_id <> d.event_id
        AND (o.is_leased AND o.next_attempt_at > statement_timestamp()
          OR (o.event_at, o.event_id) < (d.event_at, d.event_id)
            AND (NOT o.is_passable OR o.next_attempt_at <= statement_timestamp())))
  ORDER BY d.next_attempt_at
  LIMIT greatest(0, least($3::int, $2::int - (
    SELECT count(*)::int FROM callback_delivery r
    WHERE r.merchant_id = $1::uuid AND r.is_leased AND r.next_attempt_at > statement_timestamp())))
)
UPDATE callback_delivery d
SET attempts = attempts + 1, is_leased = true, next_attempt_at = statement_timestamp() + interval '${LEASE}'
FROM due WHERE d.event_id = due.event_id AND d.state = 'pending' AND d.next_attempt_at <= statement_timestamp()
RETURNING d.event_id, d.transfer_id, d.merchant_id, d.attempts`;

const INSERT_ATTEMPT = `
INSERT INTO callback_attempt (id, event_id, url, started_at, duration_ms, http_status, problem)
VALUES ($1::uuid, $2::uuid, $3, $4::timestamptz, $5, $6, $7)`;
const MARK_DELIVERED = `
UPDATE callback_delivery SET state = 'delivered', is_leased = false, next_attempt_at = NULL, note = NULL
WHERE event_id = $1::uuid AND state = 'pending'`;
const DROP_OLDER = `
UPDATE callback_delivery d SET state = 'failed', is_leased = false, next_attempt_at = NULL, note = $2
FROM callback_delivery me
WHERE me.event_id = $1::uuid AND d.transfer_id = me.transfer_id AND d.state = 'pending'
  AND (d.event_at, d.event_id) < (me.event_at, me.event_id)`;
// Those that have only waited for this one, not those that a receiver did not take.
const HURRY_NEWER = `
UPDATE callback_delivery d SET next_attempt_at = statement_timestamp()
FROM callback_delivery me
WHERE me.event_id = $1::uuid AND d.transfer_id = me.transfer_id AND d.state = 'pending' AND NOT d.is_leased
  AND d.attempts = 0 AND d.next_attempt_at > statement_timestamp()
  AND (d.event_at, d.event_id) > (me.event_at, me.event_id)`;
// The result of an attempt whose lease ran out does not count: another process has the delivery.
const MARK_TRIED = `
UPDATE callback_delivery SET is_leased = false, is_passable = $4,
  state = CASE WHEN statement_timestamp() + $3 * interval '1 ms' > give_up_at THEN 'failed' ELSE 'pending' END,
  note = CASE WHEN statement_timestamp() + $3 * interval '1 ms' > give_up_at THEN $5 END,
  next_attempt_at = CASE WHEN statement_timestamp() + $3 * interval '1 ms' > give_up_at THEN NULL
    ELSE statement_timestamp() + $3 * interval '1 ms' END
WHERE event_id = $1::uuid AND attempts = $2 AND is_leased RETURNING state`;
const DELAY_NEWER = `
UPDATE callback_delivery d SET next_attempt_at = me.next_attempt_at
FROM callback_delivery me
WHERE me.event_id = $1::uuid AND d.transfer_id = me.transfer_id AND d.state = 'pending' AND NOT d.is_leased
  AND d.next_attempt_at < me.next_attempt_at AND (d.event_at, d.event_id) > (me.event_at, me.event_id)`;
const NOTE_SUCCESS = `
UPDATE callback_settings SET failing_since = NULL WHERE merchant_id = $1::uuid AND failing_since IS NOT NULL`;
const NOTE_FAILURE = `
UPDATE callback_settings SET failing_since = statement_timestamp() WHERE merchant_id = $1::uuid AND failing_since IS NULL`;
const STOP = `
UPDATE callback_settings SET stopped_at = statement_timestamp()
WHERE merchant_id = $1::uuid AND stopped_at IS NULL AND failing_since < statement_timestamp() - interval '${STOP_AFTER}'`;
const FAIL_PENDING = `
UPDATE callback_delivery SET state = 'failed', is_leased = false, next_attempt_at = NULL, note = $2
WHERE merchant_id = $1::uuid AND state = 'pending'`;

/** The address of a merchant's callbacks, and their token and secret. */
export type StoredSettings = {
  /** Null: the merchant is not called. */
  readonly url: string | null;
  readonly token: string;
  readonly secret: string;
  /** When we stopped calling because nothing had come through for days; null: we have not. */
  readonly stoppedAt: Date | null;
  readonly updatedAt: Date;
};
type SettingsColumns = {
  merchant_id: string;
  url: string | null;
  token: string;
  secret: string;
  stopped_at: Date | null;
  updated_at: Date;
};

/** A merchant's settings; undefined: none were ever set. */
export async function readSettings(client: Queryable, merchantId: string): Promise<StoredSettings | undefined> {
  return fromSettingsColumns((await client.query<SettingsColumns>(SETTINGS, [merchantId])).rows[0]);
}

/** Locks a merchant's settings, and with them its deliveries. */
export async function lockSettings(client: PoolClient, merchantId: string): Promise<StoredSettings | undefined> {
  await waitForLocks(client);
  return fromSettingsColumns((await client.query<SettingsColumns>(LOCK_SETTINGS, [merchantId])).rows[0]);
}

/** The same, unless another process has the lock. */
export async function tryLockSettings(client: PoolClient, merchantId: string): Promise<StoredSettings | undefined> {
  return fromSettingsColumns((await client.query<SettingsColumns>(TRY_SETTINGS, [merchantId])).rows[0]);
}

/** Writes a merchant's settings; a merchant that was not called any more is called again. */
export async function writeSettings(
  client: PoolClient,
  settings: { merchantId: string; url: string | null; token: string; secret: string },
): Promise<StoredSettings> {
  const { merchantId, url, token, secret } = settings;
  const names = namesOf(merchantId);
  const form = await readSecretForm(client);
  const values = [merchantId, url, sealText(names.token, token, form), sealText(names.secret, secret, form)];
  const { rows } = await client.query<SettingsColumns>(WRITE_SETTINGS, values);
  const written = fromSettingsColumns(rows[0]);
  invariant(written !== undefined, "settings that were written are there");
  return written;
}

function fromSettingsColumns(row: SettingsColumns | undefined): StoredSettings | undefined {
  if (row === undefined) return undefined;
  const { merchant_id: merchantId, url, stopped_at: stoppedAt, updated_at: updatedAt } = row;
  const names = namesOf(merchantId);
  const [token, secret] = [openText(names.token, row.token), openText(names.secret, row.secret)];
  return { url, token, secret, stoppedAt, updatedAt };
}

/** The secrets of merchants' callbacks. */
export const CALLBACK_SECRETS: SecretColumns = {
  table: "callback_settings",
  id: "merchant_id",
  idType: "uuid",
  columns: ["token", "secret"],
  nameOf: (column, merchantId) => `callback_settings.${column}/${merchantId}`,
  formerIs: "sealed",
};

/** The names of a merchant's two secrets in their encryption. */
function namesOf(merchantId: string): { token: string; secret: string } {
  const { nameOf } = CALLBACK_SECRETS;
  return { token: nameOf("token", merchantId), secret: nameOf("secret", merchantId) };
}

/** A delivery that one attempt has for itself. */
export type ClaimedDelivery = {
  readonly eventId: string;
  readonly transferId: string;
  readonly merchantId: string;
  /** Which attempt this is, from 1. */
  readonly attempt: number;
};

/** A merchant that has something due. `isFailing`: its last attempt was not taken. */
export type WaitingMerchant = { readonly merchantId: string; readonly isFailing: boolean };

/** Merchants that have something due: those that accept callbacks first, then those that wait longest. */
export async function readWaitingMerchants(client: Queryable, limit: number): Promise<WaitingMerchant[]> {
  const { rows } = await client.query<{ merchant_id: string; is_failing: boolean }>(WAITING, [limit]);
  return rows.map((row) => ({ merchantId: row.merchant_id, isFailing: row.is_failing }));
}

/** Takes deliveries that are due, behind the settings' lock: at most `atMost`, and `perMerchant` at a time over all nodes. */
export async function claimDue(
  client: PoolClient,
  { merchantId, perMerchant, atMost }: { merchantId: string; perMerchant: number; atMost: number },
): Promise<ClaimedDelivery[]> {
  type Row = { event_id: string; transfer_id: string; merchant_id: string; attempts: number };
  const { rows } = await client.query<Row>(CLAIM, [merchantId, perMerchant, atMost]);
  return rows.map((row) => ({
    eventId: row.event_id,
    transferId: row.transfer_id,
    merchantId: row.merchant_id,
    attempt: row.attempts,
  }));
}

/** The result of an attempt. */
export type AttemptFacts = {
  readonly url: string;
  readonly startedAt: Date;
  readonly durationMs: number;
  /** Null: there was no answer. */
  readonly httpStatus: number | null;
  /** Null: the receiver has taken it. */
  readonly problem: string | null;
};

/** Adds an attempt to the log. */
export async function insertAttempt(client: PoolClient, eventId: string, attempt: AttemptFacts): Promise<void> {
  const { url, startedAt, durationMs, httpStatus, problem } = attempt;
  await client.query(INSERT_ATTEMPT, [uuidv7(), eventId, url, startedAt, durationMs, httpStatus, problem]);
}

/** Behind the settings' lock: the receiver has accepted it, from this process or another. Older events of the transfer are not sent any more. */
export async function markDelivered(client: PoolClient, { eventId, merchantId }: ClaimedDelivery): Promise<void> {
  await client.query(NOTE_SUCCESS, [merchantId]);
  if ((await client.query(MARK_DELIVERED, [eventId])).rowCount === 0) return;
  await client.query(DROP_OLDER, [eventId, "A later status was delivered."]);
  await client.query(HURRY_NEWER, [eventId]);
}

/** Behind the settings' lock: it was not taken and is tried again after a while, or given up. */
export async function markTried(
  client: PoolClient,
  { eventId, merchantId, attempt }: ClaimedDelivery,
  { retryAfterMs, isPassable }: { retryAfterMs: number; isPassable: boolean },
): Promise<void> {
  await client.query(NOTE_FAILURE, [merchantId]);
  const values = [eventId, attempt, retryAfterMs, isPassable, `Given up after ${GIVE_UP_AFTER}.`];
  const { rows } = await client.query<{ state: string }>(MARK_TRIED, values);
  if (rows[0] === undefined) return;
  await client.query(rows[0].state === "failed" || isPassable ? HURRY_NEWER : DELAY_NEWER, [eventId]);
}

/** Behind the settings' lock: stops calling a merchant whom nothing has reached for days. Whether it did. */
export async function stopIfHopeless(client: PoolClient, merchantId: string): Promise<boolean> {
  if ((await client.query(STOP, [merchantId])).rowCount === 0) return false;
  await failPending(client, merchantId, `Nothing was delivered for ${STOP_AFTER}, so callbacks were stopped.`);
  return true;
}

/** Behind the settings' lock: gives up everything that waits. */
export async function failPending(client: PoolClient, merchantId: string, note: string): Promise<void> {
  await client.query(FAIL_PENDING, [merchantId, note]);
}
