// The part of a statement that makes alerts. The statement that decides one writes its row and everything that is owed for it, the
// mail and the delivery: a process that dies after it has lost nothing, and one that dies before it has done nothing.

import { GIVE_UP_AFTER } from "../../callbacks/delivery-reasons.ts";

/**
 * Makes an alert of each row f of the part `found` (account_id, type, crossing, percent, data), if its account wants it anywhere. The same
 * percent of a crossing is made once for ever, and none below one that was made. `mails`: whether a row is mailed where that is wanted.
 */
export const makeAlerts = (mails: string): string => `
wanted AS (
  SELECT f.*, ${mails} AND f.type = ANY (s.mail_types) AS by_mail, f.type = ANY (s.webhook_types) AS by_webhook
  FROM found f JOIN alert_settings s ON s.account_id = f.account_id
  WHERE NOT EXISTS (SELECT FROM alert_event e
    WHERE e.account_id = f.account_id AND e.crossing = f.crossing AND e.percent >= f.percent)
), made AS (
  INSERT INTO alert_event (id, account_id, type, crossing, percent, data, mail_at)
  SELECT new_uuidv7(), account_id, type, crossing, percent, data, CASE WHEN by_mail THEN clock_timestamp() END
  FROM wanted WHERE by_mail OR by_webhook
  ON CONFLICT (account_id, crossing, percent) DO NOTHING
  RETURNING id, account_id, type, created_at
), posted AS (
  INSERT INTO webhook_delivery (event_id, event_at, account_id, next_attempt_at, give_up_at)
  SELECT m.id, m.created_at, m.account_id, m.created_at, m.created_at + interval '${GIVE_UP_AFTER}'
  FROM made m JOIN alert_settings s ON s.account_id = m.account_id AND m.type = ANY (s.webhook_types)
    JOIN webhook_settings w ON w.account_id = m.account_id AND w.url IS NOT NULL AND w.stopped_at IS NULL
)`;

/** The same, with a mail for each row that is wanted by mail. */
export const MAKE_ALERTS = makeAlerts("true");
