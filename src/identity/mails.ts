// What people are written. Indonesian first, English below, like the dashboard.

import type { Mail } from "./mailer.ts";

/** The mail whose link proves that the address is read by the person who signed up with it. */
export function verificationMail(to: string, url: string): Mail {
  return {
    to,
    subject: "Saldo: verifikasi alamat e-mail / verify your e-mail address",
    text: [
      "Buka tautan ini dalam sepuluh menit untuk menyelesaikan pendaftaran Anda:",
      "Open this link within ten minutes to complete your registration:",
      "",
      url,
      "",
      "Jika Anda tidak mendaftar, jangan buka tautan ini.",
      "If you did not sign up, do not open it.",
    ].join("\n"),
  };
}

/** The mail whose link leads to choosing another password. */
export function resetMail(to: string, url: string): Mail {
  return {
    to,
    subject: "Saldo: atur ulang kata sandi / reset your password",
    text: [
      "Buka tautan ini dalam sepuluh menit untuk memilih kata sandi baru:",
      "Open this link within ten minutes to choose a new password:",
      "",
      url,
      "",
      "Jika Anda tidak memintanya, abaikan e-mail ini; kata sandi Anda tidak berubah.",
      "If you did not ask for it, ignore this mail; your password stays as it is.",
    ].join("\n"),
  };
}

/** The mail that an account exists already, after another sign-up; the page must not show it. */
export function alreadyThereMail(to: string, baseUrl: string): Mail {
  return {
    to,
    subject: "Saldo: Anda sudah punya akun / you have an account",
    text: [
      "Seseorang mendaftar dengan alamat ini, yang sudah punya akun. Jika itu Anda, masuk atau atur ulang kata sandi di:",
      "A sign-up used this address, which has an account. If it was you, sign in or reset your password at:",
      "",
      `${baseUrl}/`,
    ].join("\n"),
  };
}

/** The mail that a password was changed, in case its owner did not do it. */
export function passwordChangedMail(to: string, baseUrl: string): Mail {
  return {
    to,
    subject: "Saldo: kata sandi diubah / your password was changed",
    text: [
      "Kata sandi akun Anda baru saja diubah dan semua sesi lain diakhiri. Jika bukan Anda, atur ulang sekarang di:",
      "The password of your account was just changed and all other sessions were ended. If it was not you, reset it now at:",
      "",
      `${baseUrl}/`,
    ].join("\n"),
  };
}

/** The mail that a second factor was added, in case its owner did not do it. */
export function factorAddedMail(to: string, baseUrl: string): Mail {
  return {
    to,
    subject: "Saldo: verifikasi dua langkah ditambahkan / second factor added",
    text: [
      "Aplikasi autentikator atau passkey baru saja ditambahkan ke akun Anda. Jika bukan Anda, atur ulang kata sandi di:",
      "An authenticator app or a passkey was just added to your account. If it was not you, reset your password at:",
      "",
      `${baseUrl}/`,
    ].join("\n"),
  };
}

/** The mail that a second factor was removed, in case its owner did not do it. */
export function factorRemovedMail(to: string, baseUrl: string): Mail {
  return {
    to,
    subject: "Saldo: verifikasi dua langkah dihapus / second factor removed",
    text: [
      "Aplikasi autentikator atau passkey baru saja dihapus dari akun Anda. Jika bukan Anda, atur ulang kata sandi di:",
      "An authenticator app or a passkey was just removed from your account. If it was not you, reset your password at:",
      "",
      `${baseUrl}/`,
    ].join("\n"),
  };
}
