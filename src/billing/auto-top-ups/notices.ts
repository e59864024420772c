// The mails of automatic top-ups, first in the reader's language and then in the other.

import type { Pool } from "pg";
import { idr } from "../../kernel/money.ts";
import type { Language } from "../../kernel/preferred-language.ts";
import { rupiahText } from "../../kernel/rupiah-text.ts";
import { claimUntil, countUnsure, MAILS_PER_CLAIM, type OwedMails } from "../owed-mails.ts";
import type { NoticeKind } from "./store.ts";

const CLAIM = `
UPDATE auto_top_up_notice n SET mail_attempts = n.mail_attempts + 1, mail_at = ${claimUntil("n.mail_attempts")}
FROM (
  SELECT id FROM auto_top_up_notice WHERE mail_at <= clock_timestamp() ORDER BY mail_at LIMIT ${MAILS_PER_CLAIM} FOR NO KEY UPDATE SKIP LOCKED
) due
WHERE n.id = due.id RETURNING n.id, n.account_id AS "accountId", n.kind, n.amount, n.mailed_people AS "mailedPeople"`;
const MAILED = `UPDATE auto_top_up_notice SET mailed_people = mailed_people || $2::uuid WHERE id = $1::uuid`;
const SENT = `UPDATE auto_top_up_notice SET mailed_at = clock_timestamp(), mail_at = NULL WHERE id = $1::uuid`;
const UNSURE = `UPDATE auto_top_up_notice SET ${countUnsure("mail_attempts", "mail_at")} WHERE id = $1::uuid`;

/** A mail that is owed, and the readers who have had it; money is micro-rupiah. */
export type AutoTopUpNotice = {
  readonly id: string;
  readonly accountId: string;
  readonly kind: NoticeKind;
  readonly amount: bigint;
  readonly mailedPeople: readonly string[];
};

/** Keeps that a reader has had a mail. */
export async function noteAutoTopUpMailed(pool: Pool, id: string, readerId: string): Promise<void> {
  await pool.query(MAILED, [id, readerId]);
}

/** The mails that automatic top-ups owe. */
export const AUTO_TOP_UP_MAILS: OwedMails<AutoTopUpNotice> = {
  claim: CLAIM,
  sent: SENT,
  unsure: UNSURE,
  valuesOf: ({ id }) => [id],
};

type Words = { readonly subject: string; readonly now: string };

/** The words of a mail. `url`: where the settings are. */
export function autoTopUpMail(
  { kind, amount }: Pick<AutoTopUpNotice, "kind" | "amount">,
  url: string,
  language: Language,
): { subject: string; text: string } {
  const [first, second] = language === "en" ? [ENGLISH, INDONESIAN] : [INDONESIAN, ENGLISH];
  const [one, two] = [
    first[kind](rupiahText(idr(amount), language)),
    second[kind](rupiahText(idr(amount), language === "en" ? "id" : "en")),
  ];
  return {
    subject: `Saldo: ${one.subject} / ${two.subject}`,
    text: [one.now, two.now, "", url].join("\n"),
  };
}

const INDONESIAN: Readonly<Record<NoticeKind, (amount: string) => Words>> = {
  succeeded: (amount) => ({
    subject: "isi saldo otomatis berhasil",
    now: `Isi saldo otomatis berhasil: ${amount} ditagih ke metode pembayaran tersimpan Anda.`,
  }),
  failed: (amount) => ({
    subject: "isi saldo otomatis gagal",
    now: `Isi saldo otomatis ${amount} tidak selesai: metode tersimpan Anda ditolak atau tidak dapat ditagih. Selama isi saldo otomatis aktif, kami mencoba lagi paling cepat satu jam kemudian.`,
  }),
  paused: () => ({
    subject: "isi saldo otomatis dijeda",
    now: "Isi saldo otomatis dijeda karena tiga tagihan berturut-turut tidak selesai, atau sebuah pembayaran dikembalikan. Periksa metode pembayaran Anda, lalu simpan pengaturan lagi.",
  }),
  capped: (amount) => ({
    subject: "batas bulanan isi saldo otomatis tercapai",
    now: `Isi saldo otomatis berhenti bulan ini: tagihan berikutnya akan melewati batas ${amount} yang Anda tetapkan.`,
  }),
};

const ENGLISH: typeof INDONESIAN = {
  succeeded: (amount) => ({
    subject: "automatic top-up succeeded",
    now: `Your automatic top-up succeeded: ${amount} was charged to your saved payment method.`,
  }),
  failed: (amount) => ({
    subject: "automatic top-up failed",
    now: `Your automatic top-up of ${amount} was not completed: your saved method was refused or could not be charged. While automatic top-up is on, we try again after one hour at the earliest.`,
  }),
  paused: () => ({
    subject: "automatic top-up is paused",
    now: "Automatic top-up is paused, because three charges in a row were not completed, or a payment was given back. Check your payment method, then save the settings again.",
  }),
  capped: (amount) => ({
    subject: "the monthly cap of automatic top-ups is reached",
    now: `Automatic top-up has stopped for this month: the next charge would pass the cap of ${amount} that you set.`,
  }),
};
