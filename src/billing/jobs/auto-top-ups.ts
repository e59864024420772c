// Automatic top-ups: charging accounts that are low, and sending the mails of it. Billing decides; the caller finds the address of a reader.

import type { Pool } from "pg";
import type { Tick } from "../../workers/tick.ts";
import { type AutoTopUpWork, chargeAutoTopUps, chargingProviders } from "../auto-top-ups/charge-auto-top-ups.ts";
import {
  AUTO_TOP_UP_MAILS,
  type AutoTopUpNotice,
  autoTopUpMail,
  noteAutoTopUpMailed,
} from "../auto-top-ups/notices.ts";
import { noteMissedOutcomes } from "../auto-top-ups/store.ts";
import { mailEach, MONEY_READERS, type ReadersOf } from "../mail-readers.ts";
import { type SendOwed, sendOwedMails } from "../owed-mails.ts";

/** A low balance is seen within this time. */
const CHARGE_MS = 5_000;
const MAIL_MS = 30_000;
const MISSED_MS = 3_600_000;

/**
 * Charges the accounts that are low and want it, with a tick for each provider: one that does not answer delays no account of another. Processes
 * on one database charge each account once.
 */
export function autoTopUpTicks(work: AutoTopUpWork): Tick[] {
  const charging = chargingProviders(work).map((provider) => ({
    name: `charge automatic top-ups: ${provider}`,
    everyMs: CHARGE_MS,
    run: (signal: AbortSignal) => chargeAutoTopUps(work, provider, signal),
  }));
  const run = (): Promise<void> => noteMissedOutcomes(work.database);
  return [...charging, { name: "note outcomes of automatic top-ups", everyMs: MISSED_MS, run }];
}

export type AutoTopUpMailWork = {
  readonly pool: Pool;
  readonly mailer: { send(mail: { to: string; subject: string; text: string }): Promise<void> };
  readonly readersOf: ReadersOf;
  /** Where the settings are. */
  readonly url: () => string;
};

/** Sends the mails that automatic top-ups owe. */
export function autoTopUpMailTick({ pool, mailer, readersOf, url }: AutoTopUpMailWork): Tick {
  const send: SendOwed<AutoTopUpNotice> = async (notice, mayGoOn) =>
    mailEach({
      mayGoOn,
      readers: await readersOf(notice.accountId, MONEY_READERS),
      mailed: notice.mailedPeople,
      note: (readerId) => noteAutoTopUpMailed(pool, notice.id, readerId),
      send: ({ email, language }) => mailer.send({ to: email, ...autoTopUpMail(notice, url(), language) }),
    });
  return {
    name: "send mails of automatic top-ups",
    everyMs: MAIL_MS,
    run: async (signal) => {
      const { failures } = await sendOwedMails(pool, AUTO_TOP_UP_MAILS, send, signal);
      if (failures.length > 0) throw new AggregateError(failures, `${failures.length} mails could not be sent`);
    },
  };
}
