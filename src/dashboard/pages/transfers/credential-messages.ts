// The messages of the page of a merchant's credentials.

import type { Messages } from "../../i18n/language.tsx";

export const CREDENTIAL_MESSAGES = {
  id: {
    title: "Kredensial",
    about:
      "Pasangan kunci API dan kunci rahasia untuk server Anda. Untuk menggantinya tanpa jeda: buat yang baru, pasang, lalu cabut yang lama.",
    create: "Buat pasangan",
    tooMany: "Pasangan yang aktif sudah terlalu banyak. Cabut satu dulu.",
    none: "Belum ada pasangan",
    noneAbout: "Buat pasangan agar server Anda bisa memesan transfer lewat API.",
    apiKey: "Kunci API",
    secretKey: "Kunci rahasia",
    state: "Status",
    works: "Aktif",
    revoked: "Dicabut",
    revoke: "Cabut",
    revokeTitle: "Cabut pasangan ini?",
    revokeAbout:
      "Dalam lima detik semua permintaan dengan pasangan ini ditolak, untuk selamanya. Transfer yang sudah dipesan tetap berjalan.",
    wasRevoked: "Pasangan dicabut",
    cancel: "Batal",
    header: "Header Basic",
    headerAbout:
      "Setiap permintaan membawa header Authorization: kunci API, titik dua dan kunci rahasia dalam base64. Yang Anda ketik di sini digabung di peramban dan tidak dikirim ke mana pun.",
  },
  en: {
    title: "Credentials",
    about:
      "Pairs of API key and secret key for your server. To replace one without a pause: create a new one, install it, then revoke the old one.",
    create: "Create a pair",
    tooMany: "Too many pairs are active. Revoke one first.",
    none: "No pairs yet",
    noneAbout: "Create a pair so that your server can order transfers through the API.",
    apiKey: "API key",
    secretKey: "Secret key",
    state: "State",
    works: "Active",
    revoked: "Revoked",
    revoke: "Revoke",
    revokeTitle: "Revoke this pair?",
    revokeAbout:
      "Within five seconds every request with this pair is refused, for good. Transfers already ordered continue.",
    wasRevoked: "Pair revoked",
    cancel: "Cancel",
    header: "Basic header",
    headerAbout:
      "Every request carries an Authorization header: the API key, a colon and the secret key in base64. What you type here is put together in the browser and sent nowhere.",
  },
} satisfies Messages<Record<string, string>>;
