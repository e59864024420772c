// A refused order: the reason in the reader's language, and the request id for support.

import { CircleAlert } from "lucide-react";
import { factsOf } from "../api/transport.ts";
import { useLanguage, useMessages, type Messages } from "../i18n/language.tsx";
import { problemText } from "../i18n/problem-text.ts";

const MESSAGES = {
  id: {
    insufficient_balance: "Saldo merchant tidak cukup untuk transfer ini beserta biayanya.",
    external_id_conflict: "ID eksternal ini sudah dipakai untuk transfer lain. Pakai ID yang baru.",
    amount_precision: "Jumlah ini punya terlalu banyak angka desimal untuk mata uang dan jaringannya.",
    address_invalid: "Alamat ini bukan alamat tujuan yang sah di jaringan yang dipilih.",
    currency_unsupported: "Mata uang ini belum ditawarkan di jaringan dan lingkungan ini.",
    limit_exceeded: "Batas untuk ini sudah tercapai.",
    permission_denied: "Akun ini dibekukan. Hubungi operator layanan.",
    account_frozen: "Akun ini dibekukan. Hubungi operator layanan.",
    not_found: "Yang dimaksud sudah tidak ada.",
    validation_error: "Isian ini tidak diterima.",
    other: "Permintaan gagal. Coba lagi sebentar lagi; mengulang dengan isi yang sama aman.",
    request: "ID permintaan",
  },
  en: {
    insufficient_balance: "The merchant balance does not cover this transfer and its fee.",
    external_id_conflict: "This external ID was used for another transfer. Use a new one.",
    amount_precision: "This amount has too many decimals for its currency and network.",
    address_invalid: "This is not a valid destination on the chosen network.",
    currency_unsupported: "This currency is not offered on this network and environment yet.",
    limit_exceeded: "The limit for this has been reached.",
    permission_denied: "This account is frozen. Contact the operator of the service.",
    account_frozen: "This account is frozen. Contact the operator of the service.",
    not_found: "This is not there any more.",
    validation_error: "This was not accepted.",
    other: "The request failed. Try again in a moment; repeating it unchanged is safe.",
    request: "Request ID",
  },
} satisfies Messages<Record<string, string>>;

/** Shows the reason. `instead` replaces the sentence of a code where a page knows its meaning better. */
export function Refused({
  error,
  instead = {},
}: {
  readonly error: unknown;
  readonly instead?: Readonly<Record<string, string>>;
}) {
  const messages: Readonly<Record<string, string>> = useMessages(MESSAGES);
  const { language } = useLanguage();
  const facts = factsOf(error);
  const code = facts?.code ?? "other";
  // The server's message about single fields is more exact than a sentence for all of them.
  const details = facts?.details.filter(({ message }) => message !== "") ?? [];
  return (
    <div role="alert" className="flex min-w-0 gap-2 rounded-lg bg-bad-soft p-3 text-bad">
      <CircleAlert className="mt-0.5 size-4 shrink-0" aria-hidden />
      <div className="min-w-0">
        <p>{instead[code] ?? messages[code] ?? messages["other"]}</p>
        {code === "validation_error" && instead[code] === undefined
          ? details.map(({ field, message }) => (
              <p key={`${field} ${message}`} className="text-xs break-words">
                <code className="font-mono">{field}</code> {problemText(message, language)}
              </p>
            ))
          : null}
        {facts === null || facts.requestId === "" ? null : (
          <p className="text-xs">
            {messages["request"]}: <code className="font-mono break-all">{facts.requestId}</code>
          </p>
        )}
      </div>
    </div>
  );
}
