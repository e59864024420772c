// The alert that a customer's balance runs low: sent once, when it falls below the threshold, and again only after it has risen to
// it. The balance is the posted one less what is owed, which cannot be spent; what is held for a running request comes back in a
// moment, and a mail for it would be a false alarm.
//
// A mail is owed from the moment a fall is seen, in a row of the database; owed-mails.ts sends it. A balance that rises before the mail
// was sent takes it back. The same statement makes the alert for the account's webhook (alerts/), which is not taken back.

import type { Pool, PoolClient } from "pg";
import { type RecordChange, takeTurnAtSettings, UNRECORDED } from "../database/record-change.ts";
import { withTransaction } from "../database/transactions.ts";
import { changedFacts, type Facts } from "../kernel/changed-facts.ts";
import { DecimalError } from "../kernel/decimal.ts";
import { ValidationError } from "../kernel/errors.ts";
import { BEFORE_ALL_IDS } from "../kernel/ids.ts";
import { formatMoney, IDR, idr, parseMoney } from "../kernel/money.ts";
import { createLook } from "../database/throttled-reader.ts";
import { MAKE_ALERTS } from "./alerts/make-alerts.ts";
import { claimUntil, countUnsure, MAILS_PER_CLAIM, type OwedMails } from "./owed-mails.ts";

/** The alert of an account. The threshold is micro-rupiah. */
export type LowBalanceAlert = {
  readonly threshold: bigint;
  /** Whether the balance was below it when it was last looked at. */
  readonly isBelow: boolean;
  readonly notifiedAt: Date | null;
};

/** A mail to be sent, and the readers who have had it; money is micro-rupiah. */
export type LowBalanceNotice = {
  readonly accountId: string;
  readonly threshold: bigint;
  readonly balance: bigint;
  readonly mailedPeople: readonly string[];
  /** The claim: how often the mail was tried with it, and the moment until which it lasts; null: it is the last. */
  readonly attempts: number;
  readonly claimedUntil: string | null;
};

const ALERTS_PER_PAGE = 500;
const MAX_THRESHOLD = 10n ** 12n * 10n ** 6n;

const BALANCE = "greatest(0, a.posted - a.owed)";
const READ = `SELECT threshold, is_below AS "isBelow", notified_at AS "notifiedAt" FROM low_balance_alert WHERE account_id = $1::uuid`;
const REMOVE = `DELETE FROM low_balance_alert WHERE account_id = $1::uuid`;
// A balance that is below a new threshold already does not fall. Setting the same threshold again changes nothing.
const SET = `
INSERT INTO low_balance_alert AS l (account_id, threshold, is_below)
SELECT a.id, $2::bigint, ${BALANCE} < $2::bigint FROM account a WHERE a.id = $1::uuid
ON CONFLICT (account_id) DO UPDATE SET threshold = excluded.threshold, is_below = excluded.is_below, next_attempt_at = NULL
WHERE l.threshold <> excluded.threshold`;

// $1 the account to begin behind. A balance that fell owes a mail; one that rose owes none any more.
const LOOK = `
WITH page AS (
  SELECT l.account_id, ${BALANCE} < l.threshold AS is_below, ${BALANCE} AS balance
  FROM (SELECT account_id, threshold FROM low_balance_alert WHERE account_id > $1::uuid ORDER BY account_id LIMIT ${ALERTS_PER_PAGE}) l
  JOIN account a ON a.id = l.account_id
), moved AS (
  UPDATE low_balance_alert l
  SET is_below = p.is_below, attempts = 0, mailed_people = '{}', next_attempt_at = CASE WHEN p.is_below THEN clock_timestamp() END
  FROM page p WHERE l.account_id = p.account_id AND l.is_below <> p.is_below
  RETURNING l.account_id, l.threshold, l.is_below, p.balance
), found AS (
  SELECT account_id, 'balance.low' AS type, 'balance.low:' || extract(epoch FROM clock_timestamp()) AS crossing, 0 AS percent,
    jsonb_build_object('threshold', threshold::text, 'balance', balance::text) AS data
  FROM moved WHERE is_below
), ${MAKE_ALERTS}
SELECT max(account_id::text) AS last, count(*)::int AS seen FROM page`;

const CLAIM = `
UPDATE low_balance_alert l
SET attempts = l.attempts + 1, next_attempt_at = ${claimUntil("l.attempts")}
FROM (
  SELECT account_id FROM low_balance_alert WHERE next_attempt_at <= clock_timestamp()
  ORDER BY next_attempt_at LIMIT ${MAILS_PER_CLAIM} FOR NO KEY UPDATE SKIP LOCKED
) due
JOIN account a ON a.id = due.account_id
WHERE l.account_id = due.account_id
RETURNING l.account_id AS "accountId", l.threshold, ${BALANCE} AS balance, l.mailed_people AS "mailedPeople",
  l.attempts, l.next_attempt_at::text AS "claimedUntil"`;
// A balance that has risen and fallen since the claim owes another mail. So what is noted is of the claim alone: $2 and $3.
const OF_CLAIM = `account_id = $1::uuid AND is_below AND attempts = $2::int AND next_attempt_at IS NOT DISTINCT FROM $3::timestamptz`;
const MAILED = `UPDATE low_balance_alert SET mailed_people = mailed_people || $4::uuid WHERE ${OF_CLAIM}`;
const SENT = `UPDATE low_balance_alert SET notified_at = clock_timestamp(), next_attempt_at = NULL WHERE ${OF_CLAIM}`;
const UNSURE = `UPDATE low_balance_alert SET ${countUnsure("attempts", "next_attempt_at")} WHERE ${OF_CLAIM}`;
const claimOf = ({ accountId, attempts, claimedUntil }: LowBalanceNotice) => [accountId, attempts, claimedUntil];

/** Reads an account's alert. Null: it has none. */
export async function readLowBalanceAlert(
  client: Pick<Pool | PoolClient, "query">,
  accountId: string,
): Promise<LowBalanceAlert | null> {
  return (await client.query<LowBalanceAlert>(READ, [accountId])).rows[0] ?? null;
}

/** Sets the threshold, or with null turns the alert off; `record` writes a line of it in the same transaction. */
export function setLowBalanceAlert(
  pool: Pool,
  { accountId, threshold }: { accountId: string; threshold: bigint | null },
  record: RecordChange = UNRECORDED,
): Promise<LowBalanceAlert | null> {
  return withTransaction({ pool }, async (client) => {
    await takeTurnAtSettings(client, accountId);
    const before = await readLowBalanceAlert(client, accountId);
    await (threshold === null ? client.query(REMOVE, [accountId]) : client.query(SET, [accountId, threshold]));
    const after = await readLowBalanceAlert(client, accountId);
    await record(client, { subject: null, facts: changedFacts(factsOf(before), factsOf(after)) });
    return after;
  });
}

function factsOf(alert: LowBalanceAlert | null): Facts {
  return alert === null ? {} : { threshold: formatMoney(idr(alert.threshold)) };
}

/** A threshold as it was written, in micro-rupiah; null when it is empty. Errors: ValidationError. */
export function readThreshold(text: string): bigint | null {
  if (text === "") return null;
  try {
    const { units } = parseMoney(text, IDR);
    if (units > 0n && units <= MAX_THRESHOLD) return units;
  } catch (error) {
    if (!(error instanceof DecimalError)) throw error;
  }
  const message = "must be rupiah above 0, at most 1000000000000, with at most 6 decimals";
  throw new ValidationError([{ field: "threshold", rule: "low_balance_alert.threshold", message }]);
}

/** Looks at every balance with an alert and notes which fell and which rose. */
export async function lookAtLowBalances(pool: Pool, signal?: AbortSignal): Promise<void> {
  const look = createLook(pool, { share: 1, ...(signal && { signal }) });
  for (let after = BEFORE_ALL_IDS; ;) {
    const [page] = await look<{ last: string | null; seen: number }>(LOOK, [after]);
    if (page?.last == null || page.seen < ALERTS_PER_PAGE) return;
    after = page.last;
  }
}

/** Keeps that a reader has had the mail of a fall. */
export async function noteLowBalanceMailed(pool: Pool, notice: LowBalanceNotice, readerId: string): Promise<void> {
  await pool.query(MAILED, [...claimOf(notice), readerId]);
}

/** The mails that falls owe. */
export const LOW_BALANCE_MAILS: OwedMails<LowBalanceNotice> = {
  claim: CLAIM,
  sent: SENT,
  unsure: UNSURE,
  valuesOf: claimOf,
};
