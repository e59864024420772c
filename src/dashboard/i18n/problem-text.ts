// The server's messages about a field, in the reader's language. The server writes English, for programs and logs; the
// messages that occur in forms are translated here. An unknown one is shown unchanged: English is better than nothing.

import type { Language } from "./language.tsx";

/** The part after the field's name, such as "must be …". `$1` is the message's first value. */
const INDONESIAN: readonly (readonly [english: RegExp, indonesian: string])[] = [
  [/^(?:is required|must be given|must be set)$/, "harus diisi"],
  [/^must be an address that begins with https:\/\/$/, "harus alamat yang dimulai dengan https://"],
  [/^must begin with https:\/\/ in production$/, "harus dimulai dengan https:// di produksi"],
  [/^must hold no user and no password$/, "tidak boleh memuat nama pengguna atau kata sandi"],
  [/^must have no fragment$/, "tidak boleh memuat bagian setelah #"],
  [/^must be an address of the public internet$/, "harus alamat di internet publik"],
  [/^must be a text of at most (\d+) characters, (.+)$/, "harus teks maksimal $1 karakter ($2)"],
  [/^must be a whole number from (\d+) to (\d+)$/, "harus bilangan bulat dari $1 sampai $2"],
  [/^must be a list of (\d+) to (\d+) items$/, "harus daftar berisi $1 sampai $2 butir"],
  [/^must be one of (.+)$/, "harus salah satu dari $1"],
  [/^must have no other keys than (.+)$/, "tidak boleh punya kunci selain $1"],
  [/^must be a mapping$/, "harus berupa pasangan kunci dan nilai"],
  [/^must be true or false$/, "harus true atau false"],
  [/^must be a decimal in quotes, such as (.+)$/, "harus desimal dalam tanda kutip, misalnya $1"],
  [/^must not exceed context_length$/, "tidak boleh melebihi context_length"],
  [/^must be YAML: (.+)$/, "bukan YAML yang sah: $1"],
  [/^must not use so many aliases$/, "memakai terlalu banyak alias"],
  [/^must be at most (\d+) characters long$/, "maksimal $1 karakter"],
  [/^must be at most (.+)$/, "maksimal $1"],
  [/^must be at least (.+)$/, "minimal $1"],
  [/^must be greater than 0$/, "harus lebih dari nol"],
  [/^must not be greater than max$/, "tidak boleh lebih besar dari batas atas"],
  [/^has characters that receipts cannot print: (.+)$/, "memuat karakter yang tidak bisa dicetak pada kuitansi: $1"],
  [/^must not be only spaces$/, "tidak boleh hanya spasi"],
  [/^names a stop that has ended; .+$/, "sudah berakhir; dompet berhenti lagi sesudahnya, jadi periksa sebabnya dulu"],
  [
    /^must be approved by another operator than the one who gave the command$/,
    "harus disetujui operator lain, bukan yang memerintahkan",
  ],
  [/^names a command that has expired(?:; .+)?$/, "sudah kedaluwarsa"],
  [/^names a command that was (?:approved|refused)(?:; .+)?$/, "sudah diputuskan"],
  [/^must be a UUID$/, "harus berupa UUID"],
  [/^must be a day such as (.+)$/, "harus tanggal, misalnya $1"],
  [/^sorts at most (\d+) rows; narrow the filter$/, "hanya mengurutkan sampai $1 baris; persempit filternya"],
  [/^must not be later than .+$/, "tidak boleh lebih lambat dari akhir rentang"],
];

/** The server's message in a language. */
export function problemText(message: string, language: Language): string {
  if (language === "en") return message;
  const known = INDONESIAN.find(([sentence]) => sentence.test(message));
  return known === undefined ? message : message.replace(known[0], known[1]);
}
