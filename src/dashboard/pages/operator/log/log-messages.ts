// The messages of the operators' log.

import type { Messages } from "../../../i18n/language.tsx";

export const LOG_MESSAGES = {
  id: {
    title: "Log operator",
    about: "Setiap perintah operator, dari dasbor maupun baris perintah. Tidak pernah diubah atau dihapus.",
    list: "Perintah operator",
    operator: "Operator",
    action: "Tindakan",
    subject: "Terhadap",
    reason: "Alasan",
    facts: "Rincian",
    nothing: "Tidak ada tindakan yang cocok",
    nothingAbout: "Kurangi filternya. Tindakan ditulis lengkap, misalnya “account freeze”.",
    entry: "Tindakan operator",
    missing: "Tindakan ini tidak ditemukan",
    missingAbout: "Tidak ada di antara yang dimuat di daftar. Kurangi filternya, atau muat lebih banyak.",
    id: "Id",
    openAccount: "Buka akun",
  },
  en: {
    title: "Operator log",
    about: "Every operator's command, from the dashboard and the command line. Never changed or removed.",
    list: "Operators' commands",
    operator: "Operator",
    action: "Action",
    subject: "Subject",
    reason: "Reason",
    facts: "Facts",
    nothing: "No action matches",
    nothingAbout: "Use fewer filters. Actions are written out, such as “account freeze”.",
    entry: "Operator's action",
    missing: "This action was not found",
    missingAbout: "It is not among those that the list has loaded. Use fewer filters, or load more.",
    id: "Id",
    openAccount: "Open account",
  },
} satisfies Messages<Record<string, string>>;
