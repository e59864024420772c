// What an account is alerted of, as it is stored, and the mails that alerts owe.

import type { Pool, PoolClient } from "pg";
import { claimUntil, countUnsure, MAILS_PER_CLAIM, type OwedMails } from "../owed-mails.ts";
import { type Alert, ALERT_TYPES } from "./alert-types.ts";

type Queryable = Pick<Pool | PoolClient, "query">;

const READ = `
SELECT daily_spend AS "dailySpend", percents, mail_types AS "mailTypes", webhook_types AS "webhookTypes"
FROM alert_settings WHERE account_id = $1::uuid`;
// `since`: from when on paid top-ups are notified, which is the moment in which they were first wanted.
const WRITE = `
INSERT INTO alert_settings AS s (account_id, daily_spend, percents, mail_types, webhook_types)
VALUES ($1::uuid, $2::bigint, $3::int[], $4::text[], $5::text[])
ON CONFLICT (account_id) DO UPDATE
SET daily_spend = $2::bigint, percents = $3::int[], mail_types = $4::text[], webhook_types = $5::text[],
  since = CASE WHEN 'top_up.succeeded' = ANY (s.mail_types || s.webhook_types) THEN s.since ELSE clock_timestamp() END`;
const COLUMNS = `e.id, e.account_id AS "accountId", e.type, e.created_at AS "createdAt", e.data`;
const ONE = `SELECT ${COLUMNS} FROM alert_event e WHERE e.id = $1::uuid`;
// Alerts of a type that only a later version knows wait for it: this one has no words for them.
const CLAIM = `
UPDATE alert_event e SET mail_attempts = e.mail_attempts + 1, mail_at = ${claimUntil("e.mail_attempts")}
FROM (
  SELECT id FROM alert_event WHERE mail_at <= clock_timestamp() AND type IN (${ALERT_TYPES.map((type) => `'${type}'`).join(", ")})
  ORDER BY mail_at LIMIT ${MAILS_PER_CLAIM} FOR NO KEY UPDATE SKIP LOCKED
) due
WHERE e.id = due.id RETURNING ${COLUMNS}, e.mailed_people AS "mailedPeople"`;
const MAILED = `UPDATE alert_event SET mailed_people = mailed_people || $2::uuid WHERE id = $1::uuid`;
const SENT = `UPDATE alert_event SET mailed_at = clock_timestamp(), mail_at = NULL WHERE id = $1::uuid`;
const UNSURE = `UPDATE alert_event SET ${countUnsure("mail_attempts", "mail_at")} WHERE id = $1::uuid`;

/** What an account is alerted of. */
export type AlertSettings = {
  /** Micro-rupiah; null: the spend of days is not watched. */
  readonly dailySpend: bigint | null;
  readonly percents: readonly number[];
  readonly mailTypes: readonly string[];
  readonly webhookTypes: readonly string[];
};

/** Those of an account that has set none. */
export const NO_ALERTS: AlertSettings = { dailySpend: null, percents: [], mailTypes: [], webhookTypes: [] };

export async function selectAlertSettings(client: Queryable, accountId: string): Promise<AlertSettings> {
  return (await client.query<AlertSettings>(READ, [accountId])).rows[0] ?? NO_ALERTS;
}

export async function writeAlertSettings(
  client: Queryable,
  accountId: string,
  { dailySpend, percents, mailTypes, webhookTypes }: AlertSettings,
): Promise<void> {
  await client.query(WRITE, [accountId, dailySpend, percents, mailTypes, webhookTypes]);
}

/** An alert that was decided. */
export async function selectAlert(client: Queryable, id: string): Promise<Alert | undefined> {
  return (await client.query<Alert>(ONE, [id])).rows[0];
}

/** An alert whose mail is owed, and the readers who have had it. */
export type OwedAlert = Alert & { readonly mailedPeople: readonly string[] };

/** Keeps that a reader has had the mail of an alert. */
export async function noteAlertMailed(client: Queryable, id: string, readerId: string): Promise<void> {
  await client.query(MAILED, [id, readerId]);
}

/** The mails that alerts owe. */
export const ALERT_MAILS: OwedMails<OwedAlert> = {
  claim: CLAIM,
  sent: SENT,
  unsure: UNSURE,
  valuesOf: ({ id }) => [id],
};
