// Every page and dialog of operators.

import { choose, fill, type PageToLookAt, press, type Step } from "./page-to-look-at.ts";

/** A catalog with a single model, at a higher price. */
const DRAFT = JSON.stringify({
  models: [
    {
      id: "demo/small",
      name: "Demo Small",
      context_length: 131_072,
      max_output_tokens: 16_384,
      price: { input: "4321", output: "16000" },
      routes: [{ upstream: "demo", model: "echo" }],
    },
  ],
});

const draft = fill(/^Katalog sebagai YAML$/, DRAFT);
const compare = press(/^Lihat selisih harga$/);
const reason = fill(/^Alasan/, "percobaan");
const review = press(/^Periksa dulu$/);
const tokenName = fill(/^Nama$/, "laporan-bulanan");
const rupiah = fill(/^Jumlah \(Rp\)/, "1500");

const dialog = (path: string, ...first: readonly Step[]): PageToLookAt => ({ path, first, isDialog: true });

/** Grouped by the areas of the test files. */
export const OPERATOR_PAGES = {
  catalog: [
    { path: "/operator", shows: /^Dompet yang berhenti sendiri$/ },
    { path: "/operator/catalog" },
    dialog("/operator/catalog?model=demo%2Flarge"),
    { path: "/operator/catalog?view=draft" },
    { path: "/operator/catalog?view=draft", first: [draft, compare], shows: /^Perubahan lain$/ },
    dialog("/operator/catalog?view=draft", draft, compare, press(/^Terbitkan…$/)),
    dialog("/operator/catalog?view=draft", draft, press(/^Buang draf$/)),
    { path: "/operator/catalog?view=history" },
    { ...dialog("/operator/catalog?view=history&version=1"), shows: /^Yang diubah versi ini$/ },
    {
      ...dialog("/operator/catalog?view=draft", draft, choose(/^Riwayat$/), press(/^1$/), press(/^Jadikan draf$/)),
      shows: /^Ganti draf Anda\?$/,
    },
    { path: "/operator/upstreams" },
    dialog("/operator/upstreams?upstream=demo"),
    { path: "/operator/margin" },
    { path: "/operator/service" },
    dialog("/operator/service", press(/^Hentikan…$/)),
    dialog("/operator/service", press(/^Ubah…$/)),
  ],
  accounts: [
    { path: "/operator/accounts" },
    { path: "/operator/accounts/ACCOUNT" },
    dialog("/operator/accounts/ACCOUNT", press(/^Beri kredit…$/)),
    dialog("/operator/accounts/ACCOUNT", press(/^Beri kredit…$/), rupiah, reason, review),
    dialog("/operator/accounts/ACCOUNT", press(/^Sesuaikan…$/)),
    dialog("/operator/accounts/ACCOUNT", press(/^Nota kredit pemakaian…$/)),
    dialog("/operator/accounts/ACCOUNT", press(/^Bekukan…$/)),
    dialog("/operator/accounts/ACCOUNT", press(/^Ubah batas…$/)),
    dialog("/operator/accounts/ACCOUNT", press(/^Hitung ulang…$/)),
    dialog("/operator/accounts/ACCOUNT", press(/^Akhiri sesi…$/)),
    { path: "/operator/service-tokens" },
    dialog("/operator/service-tokens", press(/^Buat token…$/)),
    dialog("/operator/service-tokens", press(/^Buat token…$/), choose(/^Semua akun$/), tokenName, review),
    {
      ...dialog(
        "/operator/service-tokens",
        press(/^Buat token…$/),
        choose(/^Semua akun$/),
        tokenName,
        review,
        press(/^Buat token$/),
      ),
      shows: /^Simpan token ini sekarang$/,
    },
    dialog("/operator/service-tokens", press(/^Cabut: laporan-harian$/)),
    { path: "/operator/top-ups" },
    { ...dialog("/operator/top-ups?topUp=TOP_UP"), shows: /^Notifikasi penyedia$/ },
    dialog("/operator/top-ups?topUp=TOP_UP", press(/^Verifikasi ulang sekarang…$/)),
  ],
  books: [
    { path: "/operator/ledger" },
    { path: "/operator/ledger?view=trial" },
    { ...dialog("/operator/ledger?open=REQUEST"), shows: /^Tulis nota kredit…$/ },
    dialog("/operator/ledger?open=REQUEST", press(/^Tulis nota kredit…$/)),
    { path: "/operator/log" },
    { ...dialog("/operator/log?open=ACTION"), shows: /^Id$/ },
    { ...dialog("/operator/log?open=zzz"), shows: /^Tindakan ini tidak ditemukan$/ },
    { path: "/operator/security", shows: /^Masuk$/ },
    { path: "/operator/security?person=unknown%40saldo.example", shows: /^Tidak ada peristiwa yang cocok$/ },
    { path: "/operator/security", refuses: /AccountsService\/ListSecurityEvents/, shows: /^Bagian ini gagal dimuat$/ },
    { ...dialog("/operator/security?event=EVENT"), shows: /^Hanya orang ini$/ },
    { ...dialog("/operator/security?event=zzz"), shows: /^Kejadian ini tidak ditemukan$/ },
    { path: "/operator/transfers" },
    { ...dialog("/operator/transfers?transfer=TRANSFER"), shows: /^ID merchant$/ },
    dialog("/operator/transfers", press(/^treasury-q4/)),
    dialog("/operator/transfers", press(/^treasury-q4/), press(/^Tolak…$/)),
    dialog("/operator/transfers", press(/^treasury-q4/), press(/^Setujui…$/), reason, review),
    dialog("/operator/transfers", press(/^Lanjutkan…$/)),
    dialog("/operator/transfers", press(/^Hentikan semua pembayaran…$/)),
    { path: "/operator/approvals" },
    { ...dialog("/operator/approvals?approval=APPROVAL"), shows: /^Setujui…$/ },
    dialog("/operator/approvals?approval=APPROVAL", press(/^Setujui…$/), review),
    { ...dialog("/operator/approvals?approval=zzz"), shows: /^Persetujuan ini tidak ditemukan$/ },
    { path: "/operator/fees" },
    dialog("/operator/fees", press(/^Tetapkan biaya…$/)),
    { ...dialog("/operator/fees", press(/^Tetapkan biaya…$/), review), shows: /^Pratinjau untuk contoh ini$/ },
    dialog("/operator/fees", press(/^Kreditkan koin…/)),
  ],
} as const satisfies Readonly<Record<string, readonly PageToLookAt[]>>;
