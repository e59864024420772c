// Alerts: deciding which are due, and sending what they owe. Billing decides; the caller finds the address of a reader.

import type { Pool } from "pg";
import type { CallbackDeliverer } from "../../callbacks/deliver-callbacks.ts";
import type { Language } from "../../kernel/preferred-language.ts";
import type { Tick } from "../../workers/tick.ts";
import { forgetAlertDeliveries } from "../alerts/account-webhook.ts";
import { alertMail, type AlertPlaces } from "../alerts/alert-mails.ts";
import { ALERT_MAILS } from "../alerts/alert-store.ts";
import type { Alert } from "../alerts/alert-types.ts";
import { decideAlerts } from "../alerts/decide-alerts.ts";
import { sendOwedMails } from "../owed-mails.ts";

const MINUTE_MS = 60_000;
const POST_MS = 1_000;

export type AlertWork = {
  readonly pool: Pool;
  readonly mailer: { send(mail: { to: string; subject: string; text: string }): Promise<void> };
  /** Who reads an account's mail, and in which language. Null: it belongs to no person. */
  readonly readerOf: (accountId: string) => Promise<{ readonly email: string; readonly language: Language } | null>;
  /** Where mails lead. */
  readonly places: () => AlertPlaces;
};

/** Makes the alerts that are due once a minute, and sends the mails that are owed. */
export function alertTick({ pool, mailer, readerOf, places }: AlertWork): Tick {
  const send = async (alert: Alert): Promise<void> => {
    const reader = await readerOf(alert.accountId);
    if (reader === null) return;
    await mailer.send({ to: reader.email, ...alertMail(alert, places(), reader.language) });
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
