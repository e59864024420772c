// A refusal by the server as a sentence, with every field it names and the request id for support.

import { CircleAlert } from "lucide-react";
import type { ErrorFacts } from "#gen/saldo/errors/v1/errors_pb.ts";
import { factsOf } from "../../../api/transport.ts";
import { useFormats } from "../../../i18n/format.ts";
import { useLanguage, useMessages, type Messages } from "../../../i18n/language.tsx";
import { problemText } from "../../../i18n/problem-text.ts";

const MESSAGES = {
  id: {
    validation_error: "Ada isian yang tidak diterima.",
    not_found: "Tidak ditemukan.",
    limit_exceeded: "Melewati batas yang diizinkan.",
    insufficient_balance: "Saldo yang tersedia tidak cukup.",
    upstream_busy: "Penyedia belum menjawab. Coba lagi sebentar lagi.",
    permission_denied: "Anda tidak berhak melakukan ini.",
    amount_precision: "Terlalu banyak angka di belakang koma untuk mata uang ini.",
    currency_unsupported: "Mata uang atau jaringan ini tidak didukung.",
    reused:
      "Perintah ini sudah pernah dikirim dengan isi lain. Periksa buku besar dulu, lalu mulai perintah baru kalau memang perlu.",
    unknown:
      "Jawaban server tidak sampai, jadi belum pasti perintah ini dijalankan. Mengulang dengan isi yang sama aman: uang tidak akan berpindah dua kali.",
    failed: "Gagal karena kesalahan di pihak kami. Coba lagi.",
    available: "Tersedia",
    requestId: "ID permintaan",
  },
  en: {
    validation_error: "Something in the form was not accepted.",
    not_found: "Not found.",
    limit_exceeded: "Beyond what is allowed.",
    insufficient_balance: "The available balance does not cover it.",
    upstream_busy: "The provider has not answered. Try again in a moment.",
    permission_denied: "You may not do this.",
    amount_precision: "Too many decimals for this currency.",
    currency_unsupported: "This currency or network is not supported.",
    reused:
      "This command was sent before with other contents. Look into the ledger first, then begin a new command if one is needed.",
    unknown:
      "No answer arrived, so it is not certain whether this was carried out. Trying again with the same contents is safe: money is never moved twice.",
    failed: "It failed on our side. Try again.",
    available: "Available",
    requestId: "Request id",
  },
} satisfies Messages<Record<string, string>>;

/** Whether a command's idempotency key was used before for another command. */
export function isReusedName(error: unknown): boolean {
  return factsOf(error)?.details.some(({ rule }) => rule === "credit.reference") ?? false;
}

/** The refusal of a command or of a filter. */
export function Refused({ error }: { readonly error: unknown }) {
  const messages = useMessages(MESSAGES);
  const formats = useFormats();
  const facts = factsOf(error);
  return (
    <div role="alert" className="flex flex-col gap-1.5 rounded-lg bg-bad-soft p-3 text-bad">
      <p className="flex items-start gap-2 font-medium">
        <CircleAlert className="mt-0.5 size-4 shrink-0" aria-hidden />
        <span>{messages[isReusedName(error) ? "reused" : wordOf(facts)]}</span>
      </p>
      {facts === null || facts.availableIdr === "" ? null : (
        <p className="digits">
          {messages.available}: {formats.exactRupiah(facts.availableIdr)}
        </p>
      )}
      <Problems facts={facts} />
      {facts === null || facts.requestId === "" ? null : (
        <p className="text-xs">
          {messages.requestId}: <code className="font-mono break-all">{facts.requestId}</code>
        </p>
      )}
    </div>
  );
}

function Problems({ facts }: { readonly facts: ErrorFacts | null }) {
  const { language } = useLanguage();
  if (facts === null || facts.details.length === 0) return null;
  return (
    // Many problems of a long draft scroll by themselves, by keyboard too.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <ul tabIndex={0} className="flex max-h-60 flex-col gap-1 overflow-y-auto text-[0.8125rem]">
      {facts.details.map(({ field, rule, message }) => (
        <li key={`${field} ${rule} ${message}`} className="break-words">
          {field === "" ? null : <code className="font-mono break-all">{field} </code>}
          {problemText(message, language)}
        </li>
      ))}
    </ul>
  );
}

function wordOf(facts: ErrorFacts | null): keyof typeof MESSAGES.id {
  if (facts === null) return "unknown";
  const known: readonly string[] = Object.keys(MESSAGES.id);
  return known.includes(facts.code) ? (facts.code as keyof typeof MESSAGES.id) : "failed";
}
