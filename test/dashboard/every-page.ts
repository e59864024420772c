// Every page and every dialog, for the rules that hold on all of them. Those of operators, and those without data, are
// in files of their own.

import { FIRST_PAGES } from "./every-first-page.ts";
import { OPERATOR_PAGES } from "./every-operator-page.ts";
import { fill, type PageToLookAt, press, unfold } from "./page-to-look-at.ts";
import { ADDRESS } from "../security/requests-about.ts";

export type Area = "outside" | "start" | "usage" | "settings" | "transfers" | keyof typeof OPERATOR_PAGES;

/** The areas of each test file: a few files, since each starts a service of its own, so that several run at once. */
export const AREAS_OF_FILES = {
  operators: ["books", "accounts", "catalog"],
  people: ["usage", "transfers", "settings"],
  outside: ["outside", "start"],
} as const satisfies Record<string, readonly Area[]>;

/** The pages of each area. */
export const EVERY_PAGE: Readonly<Record<Area, readonly PageToLookAt[]>> = {
  outside: [
    { path: "/", isOutside: true, shows: /^Rp.20\.000$/ },
    { path: "/models", isOutside: true },
    { path: "/models", isOutside: true, first: [press(/^Demo Large/)], isDialog: true },
    { path: "/models/demo/large", isOutside: true, shows: /^demo\/large$/ },
    { path: "/models/no/such", isOutside: true, shows: /^Model ini tidak ada di katalog$/ },
    { path: "/models/demo/embed" },
    { path: "/status", isOutside: true, shows: /^Sebagian layanan terganggu$/ },
    { path: "/status", shows: /^Tidak ada gangguan upstream dalam 24 jam terakhir\.$/ },
    { path: "/sign-in", isOutside: true },
    { path: "/sign-up", isOutside: true },
    {
      path: "/sign-up",
      isOutside: true,
      first: [
        fill(/^(Nama|Name)$/, "Siti"),
        fill(/^E-mail$/, "siti@saldo.example"),
        fill(/^(Kata sandi|Password)$/, "kuda laut menari di pagi hari"),
        press(/^(Daftar|Sign up)$/),
      ],
      shows: /Periksa e-mail Anda/,
    },
    { path: "/sign-in?next=/invite?token=x", isOutside: true, shows: /^Anda diundang menjadi anggota sebuah akun/ },
    { path: "/forgot-password", isOutside: true },
    { path: "/reset-password?token=x", isOutside: true },
    { path: "/no/such/page", isOutside: true, isNowhere: true },
    { path: "/docs", isOutside: true },
    { path: "/docs" },
    { path: "/docs/zzz" },
    { path: "/docs/zzz", isOutside: true },
    { path: "/transfers/elsewhere", isNowhere: true },
    { path: "/docs/authentication" },
    { path: "/docs/streaming", isOutside: true },
    { path: "/docs/tools" },
    { path: "/docs/api", shows: /^\/v1\/chat\/completions$/ },
    { path: "/docs/api?q=zzz", isOutside: true, shows: /^Tidak ada operasi yang cocok$/ },
    {
      path: "/docs/api?op=createChatCompletion",
      isOutside: true,
      shows: /^chat\.completion$/,
      first: [unfold(/^Field dari choices$/)],
    },
    { path: "/docs/clients" },
    { path: "/docs/errors" },
    { path: "/docs/limits" },
    { path: "/docs/caching" },
    { path: "/docs/billing" },
    { path: "/docs/alerts" },
    { path: "/docs/transfers" },
  ],
  start: FIRST_PAGES,
  usage: [
    { path: "/" },
    { path: "/usage" },
    // The text about a request's count is only in its row.
    { path: "/usage?tab=requests&unit=tokens&from=FIRST_DAY&to=LAST_DAY", shows: /^Tepat$/ },
    { path: "/usage?request=REQUEST", isDialog: true },
    { path: "/usage?request=RICH_ONE", isDialog: true },
    { path: "/usage?request=CUT_ONE", isDialog: true, shows: /^Perkiraan$/ },
    { path: "/keys" },
    { path: "/keys", first: [press(/^Buat kunci$/)], isDialog: true },
    {
      path: "/keys",
      first: [press(/^Buat kunci$/), fill(/^Nama$/, "laptop"), press(/^Buat kunci$/)],
      isDialog: true,
      shows: /^Kunci dibuat$/,
    },
    { path: "/keys", first: [press(/^Ubah/)], isDialog: true },
    { path: "/keys", first: [press(/^Cabut/)], isDialog: true },
    { path: "/models" },
    { path: "/models", first: [press(/^Demo Large/)], isDialog: true },
    { path: "/models", first: [press(/^Demo Embed/)], isDialog: true },
  ],
  settings: [
    { path: "/billing" },
    { path: "/billing?topUp=TOP_UP", isLive: true, shows: /^Buka halaman pembayaran$/ },
    { path: "/playground" },
    { path: "/playground", first: [press(/^Lihat kode$/)], isDialog: true },
    { path: "/settings" },
    { path: "/settings", first: [press(/^Keluar dari semua tempat$/)], isDialog: true },
    { path: "/settings", first: [press(/^Pasang aplikasi$/)], isDialog: true, shows: /^Kunci|Pindai kode QR/ },
    { path: "/alerts", shows: /^Anggaran kunci terpakai$/ },
    { path: "/members", shows: /^Pemilik akun$/ },
    { path: "/members", first: [press(/^Undang anggota$/)], isDialog: true },
    { path: "/members", first: [press(/^Atur anggaran/)], isDialog: true },
    { path: "/invite?token=x", shows: /^Undangan ini tidak terbuka$/ },
    { path: "/second-factor", shows: /^Belum dipasang$/ },
    { path: "/settings", isBroken: true, shows: /^Halaman ini tidak bisa ditampilkan$/ },
  ],
  transfers: [
    { path: "/transfers/sandbox" },
    { path: "/transfers/sandbox", first: [press(/^Isi saldo sandbox$/)], isDialog: true },
    { path: "/transfers/production" },
    { path: "/transfers/sandbox/new" },
    {
      path: "/transfers/sandbox/new",
      first: [
        fill(/^Jumlah yang diterima$/, "12.5"),
        fill(/^Alamat tujuan$/, ADDRESS),
        press(/^Lanjut ke konfirmasi$/),
      ],
      isDialog: true,
    },
    { path: "/transfers/sandbox/TRANSFER" },
    { path: "/transfers/sandbox/TRANSFER", first: [press(/^Batalkan transfer$/)], isDialog: true },
    { path: "/transfers/sandbox/credentials" },
    { path: "/transfers/sandbox/credentials", first: [press(/^Buat pasangan$/)], isDialog: true },
    { path: "/transfers/sandbox/credentials", first: [press(/^Cabut mk_/)], isDialog: true },
    { path: "/transfers/sandbox/callbacks" },
    { path: "/transfers/sandbox/callbacks", first: [press(/Buka pengiriman/)], isDialog: true },
    { path: "/transfers/sandbox/callbacks", first: [press(/^Ganti rahasia$/)], isDialog: true },
    {
      path: "/transfers/sandbox/callbacks",
      first: [press(/^Ganti rahasia$/), press(/^Ganti rahasia$/)],
      isDialog: true,
      shows: /^Simpan ini sekarang$/,
    },
  ],
  ...OPERATOR_PAGES,
};
