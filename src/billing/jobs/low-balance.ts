// The mail to a customer whose balance runs low. Billing decides which mails are owed; the caller finds the address.

import type { Pool } from "pg";
import { lookAtLowBalances, type LowBalanceNotice, sendLowBalanceNotices } from "../low-balance-alert.ts";
import { idr } from "../../kernel/money.ts";
import { rupiahText } from "../../kernel/rupiah-text.ts";
import type { Tick } from "../../workers/tick.ts";

const MINUTE_MS = 60_000;

export type LowBalanceWork = {
  readonly pool: Pool;
  readonly mailer: { send(mail: { to: string; subject: string; text: string }): Promise<void> };
  /** Where an account's mail goes. Null: it belongs to no person. */
  readonly emailOf: (accountId: string) => Promise<string | null>;
  /** Where to top up. */
  readonly topUpUrl: () => string;
};

/** Looks at every balance with an alert once a minute and sends the mails that are owed. */
export function lowBalanceTick({ pool, mailer, emailOf, topUpUrl }: LowBalanceWork): Tick {
  const send = async (notice: LowBalanceNotice): Promise<void> => {
    const to = await emailOf(notice.accountId);
    if (to !== null) await mailer.send({ to, ...lowBalanceMail(notice, topUpUrl()) });
  };
  return {
    name: "send low-balance mails",
    everyMs: MINUTE_MS,
    run: async (signal) => {
      await lookAtLowBalances(pool, signal);
      const { failures } = await sendLowBalanceNotices(pool, send, signal);
      if (failures.length > 0) throw new AggregateError(failures, `${failures.length} mails could not be sent`);
    },
  };
}

/** The words of the mail. */
export function lowBalanceMail(
  { balance, threshold }: LowBalanceNotice,
  url: string,
): { subject: string; text: string } {
  return {
    subject: "Saldo: saldo Anda menipis / your balance is low",
    text: [
      `Saldo Anda ${rupiahText(idr(balance), "id")}, di bawah batas ${rupiahText(idr(threshold), "id")} yang Anda tetapkan. Isi ulang di:`,
      `Your balance is ${rupiahText(idr(balance))}, below the ${rupiahText(idr(threshold))} that you set. Top up at:`,
      "",
      url,
      "",
      "E-mail berikutnya dikirim setelah saldo naik melewati batas lalu turun lagi.",
      "The next mail comes after the balance has risen to the limit and fallen again.",
    ].join("\n"),
  };
}
