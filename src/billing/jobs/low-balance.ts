// The mail to a customer whose balance runs low. Billing decides which mails are owed; the caller finds the address.

import type { Pool } from "pg";
import {
  LOW_BALANCE_MAILS,
  lookAtLowBalances,
  type LowBalanceNotice,
  noteLowBalanceMailed,
} from "../low-balance-alert.ts";
import { mailEach, MONEY_READERS, type ReadersOf } from "../mail-readers.ts";
import { type SendOwed, sendOwedMails } from "../owed-mails.ts";
import { idr } from "../../kernel/money.ts";
import type { Language } from "../../kernel/preferred-language.ts";
import { rupiahText } from "../../kernel/rupiah-text.ts";
import type { Tick } from "../../workers/tick.ts";

const MINUTE_MS = 60_000;

export type LowBalanceWork = {
  readonly pool: Pool;
  readonly mailer: { send(mail: { to: string; subject: string; text: string }): Promise<void> };
  readonly readersOf: ReadersOf;
  /** Where to top up. */
  readonly topUpUrl: () => string;
};

/** Looks at every balance with an alert once a minute and sends the mails that are owed. */
export function lowBalanceTick({ pool, mailer, readersOf, topUpUrl }: LowBalanceWork): Tick {
  const send: SendOwed<LowBalanceNotice> = async (notice, mayGoOn) =>
    mailEach({
      mayGoOn,
      readers: await readersOf(notice.accountId, MONEY_READERS),
      mailed: notice.mailedPeople,
      note: (readerId) => noteLowBalanceMailed(pool, notice, readerId),
      send: ({ email, language }) => mailer.send({ to: email, ...lowBalanceMail(notice, topUpUrl(), language) }),
    });
  return {
    name: "send low-balance mails",
    everyMs: MINUTE_MS,
    run: async (signal) => {
      await lookAtLowBalances(pool, signal);
      const { failures } = await sendOwedMails(pool, LOW_BALANCE_MAILS, send, signal);
      if (failures.length > 0) throw new AggregateError(failures, `${failures.length} mails could not be sent`);
    },
  };
}

/** The words of the mail, first in the reader's language and then in the other. */
export function lowBalanceMail(
  { balance, threshold }: Pick<LowBalanceNotice, "balance" | "threshold">,
  url: string,
  language: Language,
): { subject: string; text: string } {
  const indonesian = {
    subject: "saldo Anda menipis",
    now: `Saldo Anda ${rupiahText(idr(balance), "id")}, di bawah batas ${rupiahText(idr(threshold), "id")} yang Anda tetapkan. Isi ulang di:`,
    next: "E-mail berikutnya dikirim setelah saldo naik melewati batas lalu turun lagi.",
  };
  const english = {
    subject: "your balance is low",
    now: `Your balance is ${rupiahText(idr(balance))}, below the ${rupiahText(idr(threshold))} that you set. Top up at:`,
    next: "The next mail comes after the balance has risen to the limit and fallen again.",
  };
  const [first, second] = language === "en" ? [english, indonesian] : [indonesian, english];
  return {
    subject: `Saldo: ${first.subject} / ${second.subject}`,
    text: [first.now, second.now, "", url, "", first.next, second.next].join("\n"),
  };
}
