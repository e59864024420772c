import type { Messages } from "../../i18n/language.tsx";

/** The messages of the page of an invitation. */
export const INVITE_MESSAGES = {
  id: {
    title: "Undangan",
    invited: "Anda diundang menjadi anggota akun",
    as: "sebagai",
    accept: "Terima undangan",
    over: "Undangan ini tidak terbuka",
    overAbout:
      "Undangan sudah dipakai, dicabut, atau kedaluwarsa, atau ditujukan ke alamat e-mail lain. Masuk dengan alamat yang diundang, atau minta undangan baru.",
  },
  en: {
    title: "Invitation",
    invited: "You are invited to become a member of the account",
    as: "as",
    accept: "Accept the invitation",
    over: "This invitation is not open",
    overAbout:
      "It was used, revoked or is too old, or it is to another e-mail address. Sign in with the invited address, or ask for another invitation.",
  },
} satisfies Messages<Record<string, string>>;
