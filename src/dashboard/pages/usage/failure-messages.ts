// Why requests fail, one sentence for each code. Of an unknown code the server's own sentence is shown.

import type { Messages } from "../../i18n/language.tsx";

export const FAILURE_MESSAGES = {
  id: {
    validation_error: "Upstream menolak permintaan ini karena tidak valid.",
    context_length_exceeded: "Percakapan lebih panjang daripada jendela konteks model.",
    content_policy_violation: "Upstream menolak isi permintaan ini.",
    upstream_busy: "Upstream sedang sibuk atau tidak dapat dihubungi.",
    cut_off: "Jawaban terputus setelah mulai dikirim.",
    service_busy: "Layanan ini sibuk dan tidak dapat menyelesaikan jawaban.",
    internal_error: "Kesalahan pada layanan ini menghentikan permintaan.",
    insufficient_balance: "Saldo habis saat jawaban ditulis.",
    key_budget_exceeded: "Anggaran kunci habis saat jawaban ditulis.",
    member_budget_exceeded: "Anggaran anggota habis saat jawaban ditulis.",
    client_left: "Klien terputus sebelum akhir jawaban.",
    answer_refused: "Model menolak menjawab sebelum ada output.",
  },
  en: {
    validation_error: "The upstream refused the request as invalid.",
    context_length_exceeded: "The conversation is longer than the model's context window.",
    content_policy_violation: "The upstream refused the content of the request.",
    upstream_busy: "The upstream was busy or could not be reached.",
    cut_off: "The answer broke off after it had begun.",
    service_busy: "This service was busy and could not finish the answer.",
    internal_error: "A fault of this service ended the request.",
    insufficient_balance: "The balance ran out while the answer was written.",
    key_budget_exceeded: "The budget of the key ran out while the answer was written.",
    member_budget_exceeded: "The budget of the member ran out while the answer was written.",
    client_left: "The client disconnected before the end of the answer.",
    answer_refused: "The model refused to answer before any output.",
  },
} satisfies Messages<Record<string, string>>;
