// What people are written. Each mail is in both languages: first in the reader's, as far as it is known, and then in the other.
// A sign-up by another person must not decide what the owner of an address can read.

import type { Language } from "../kernel/preferred-language.ts";
import type { Mail } from "./mailer.ts";

type Texts = Readonly<Record<Language, { readonly subject: string; readonly before: string; readonly after?: string }>>;

/** Whom a mail is to, and the language that is known of the reader. */
export type Reader = { readonly to: string; readonly language: Language };

/** A mail with a link, whose sentences are in the language first and then in the other. */
function mailOf({ to, url, language }: Reader & { readonly url: string }, texts: Texts): Mail {
  const [first, second] = language === "en" ? [texts.en, texts.id] : [texts.id, texts.en];
  const after = [first.after, second.after].filter((line) => line !== undefined);
  return {
    to,
    subject: `Saldo: ${first.subject} / ${second.subject}`,
    text: [first.before, second.before, "", url, ...(after.length === 0 ? [] : ["", ...after])].join("\n"),
  };
}

/** The mail whose link proves that the address is read by the person who signed up with it. */
export function verificationMail(reader: Reader, url: string): Mail {
  return mailOf(
    { ...reader, url },
    {
      id: {
        subject: "verifikasi alamat e-mail",
        before: "Buka tautan ini dalam sepuluh menit untuk menyelesaikan pendaftaran Anda:",
        after: "Jika Anda tidak mendaftar, jangan buka tautan ini.",
      },
      en: {
        subject: "verify your e-mail address",
        before: "Open this link within ten minutes to complete your registration:",
        after: "If you did not sign up, do not open it.",
      },
    },
  );
}

/** The mail whose link leads to choosing another password. */
export function resetMail(reader: Reader, url: string): Mail {
  return mailOf(
    { ...reader, url },
    {
      id: {
        subject: "atur ulang kata sandi",
        before: "Buka tautan ini dalam sepuluh menit untuk memilih kata sandi baru:",
        after: "Jika Anda tidak memintanya, abaikan e-mail ini; kata sandi Anda tidak berubah.",
      },
      en: {
        subject: "reset your password",
        before: "Open this link within ten minutes to choose a new password:",
        after: "If you did not ask for it, ignore this mail; your password stays as it is.",
      },
    },
  );
}

/** The mail that an account exists already, after another sign-up; the page must not show it. */
export function alreadyThereMail(reader: Reader, baseUrl: string): Mail {
  return mailOf(
    { ...reader, url: `${baseUrl}/` },
    {
      id: {
        subject: "Anda sudah punya akun",
        before:
          "Seseorang mendaftar dengan alamat ini, yang sudah punya akun. Jika itu Anda, masuk atau atur ulang kata sandi di:",
      },
      en: {
        subject: "you have an account",
        before: "A sign-up used this address, which has an account. If it was you, sign in or reset your password at:",
      },
    },
  );
}

/** The mail that a password was changed, in case its owner did not do it. */
export function passwordChangedMail(reader: Reader, baseUrl: string): Mail {
  return mailOf(
    { ...reader, url: `${baseUrl}/` },
    {
      id: {
        subject: "kata sandi diubah",
        before:
          "Kata sandi akun Anda baru saja diubah dan semua sesi lain diakhiri. Jika bukan Anda, atur ulang sekarang di:",
      },
      en: {
        subject: "your password was changed",
        before:
          "The password of your account was just changed and all other sessions were ended. If it was not you, reset it now at:",
      },
    },
  );
}

/** The mail that a second factor was added, in case its owner did not do it. */
export function factorAddedMail(reader: Reader, baseUrl: string): Mail {
  return mailOf(
    { ...reader, url: `${baseUrl}/` },
    {
      id: {
        subject: "verifikasi dua langkah ditambahkan",
        before:
          "Aplikasi autentikator atau passkey baru saja ditambahkan ke akun Anda. Jika bukan Anda, atur ulang kata sandi di:",
      },
      en: {
        subject: "second factor added",
        before:
          "An authenticator app or a passkey was just added to your account. If it was not you, reset your password at:",
      },
    },
  );
}

/** The mail that a second factor was removed, in case its owner did not do it. */
export function factorRemovedMail(reader: Reader, baseUrl: string): Mail {
  return mailOf(
    { ...reader, url: `${baseUrl}/` },
    {
      id: {
        subject: "verifikasi dua langkah dihapus",
        before:
          "Aplikasi autentikator atau passkey baru saja dihapus dari akun Anda. Jika bukan Anda, atur ulang kata sandi di:",
      },
      en: {
        subject: "second factor removed",
        before:
          "An authenticator app or a passkey was just removed from your account. If it was not you, reset your password at:",
      },
    },
  );
}

/** The mail whose link makes its reader a member of an account. `accountName` and `inviter` were checked where they were set. */
export function invitationMail(
  reader: Reader,
  { url, accountName, inviter }: { readonly url: string; readonly accountName: string; readonly inviter: string },
): Mail {
  return mailOf(
    { ...reader, url },
    {
      id: {
        subject: "undangan ke sebuah akun",
        before: `${inviter} mengundang Anda menjadi anggota akun "${accountName}". Buka tautan ini dalam tujuh hari dan masuk atau daftar dengan alamat e-mail ini:`,
        after: "Jika Anda tidak mengenal pengundangnya, abaikan e-mail ini; tidak ada yang berubah.",
      },
      en: {
        subject: "invitation to an account",
        before: `${inviter} invites you to become a member of the account "${accountName}". Open this link within seven days and sign in or sign up with this e-mail address:`,
        after: "If you do not know the inviter, ignore this mail; nothing changes.",
      },
    },
  );
}
