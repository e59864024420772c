// Alerts: deciding which are due, and sending what they owe. Billing decides; the caller finds the address of a reader.

import type { Pool } from "pg";
import type { CallbackDeliverer } from "../../callbacks/deliver-callbacks.ts";
import type { Tick } from "../../workers/tick.ts";
import { forgetAlertDeliveries } from "../alerts/account-webhook.ts";
import { alertMail, type AlertPlaces, audienceOf } from "../alerts/alert-mails.ts";
import { ALERT_MAILS, noteAlertMailed, type OwedAlert } from "../alerts/alert-store.ts";
import { decideAlerts } from "../alerts/decide-alerts.ts";
import { mailEach, type ReadersOf } from "../mail-readers.ts";
import { type SendOwed, sendOwedMails } from "../owed-mails.ts";

const MINUTE_MS = 60_000;
const POST_MS = 1_000;

export type AlertWork = {
  readonly pool: Pool;
  readonly mailer: { send(mail: { to: string; subject: string; text: string }): Promise<void> };
  readonly readersOf: ReadersOf;
  /** The address of a person. Null: there is no such person any more. */
  readonly emailOf: (personId: string) => Promise<string | null>;
  /** Where mails lead. */
  readonly places: () => AlertPlaces;
};

/** Makes the alerts that are due once a minute, and sends the mails that are owed. */
export function alertTick({ pool, mailer, readersOf, emailOf, places }: AlertWork): Tick {
  const send: SendOwed<OwedAlert> = async (alert, mayGoOn) => {
    const member = alert.type === "member.budget_reached" ? await emailOf(alert.data.personId) : null;
    return mailEach({
      mayGoOn,
      readers: await readersOf(alert.accountId, audienceOf(alert)),
      mailed: alert.mailedPeople,
      note: (readerId) => noteAlertMailed(pool, alert.id, readerId),
      send: (reader) => mailer.send({ to: reader.email, ...alertMail(alert, { reader, member, places: places() }) }),
    });
  };
  return {
    name: "decide alerts",
    everyMs: MINUTE_MS,
    run: async (signal) => {
      await decideAlerts(pool, signal);
      const { failures } = await sendOwedMails(pool, ALERT_MAILS, send, signal);
      if (failures.length > 0) throw new AggregateError(failures, `${failures.length} mails could not be sent`);
    },
  };
}

/** Starts the posts of alerts that are due; processes on one database share them out. */
export function postAlertsTick(deliverer: CallbackDeliverer): Tick {
  return { name: "post alerts", everyMs: POST_MS, run: (signal) => deliverer.round(signal) };
}

/** Deletes the log of posts that is older than so many days. */
export function forgetAlertsTick(pool: Pool, days: number): Tick {
  return { name: "forget old posts of alerts", everyMs: MINUTE_MS, run: () => forgetAlertDeliveries(pool, days) };
}
