// The pages of a new account, when there is nothing to show, and a page that failed to load its data.

import { fill, follow, type PageToLookAt, pick, press, unfold } from "./page-to-look-at.ts";

const page = (path: string, shows: RegExp, more: Partial<PageToLookAt> = {}): PageToLookAt => ({
  path,
  isNew: true,
  shows,
  ...more,
});

/** In this order: from the playground on there is data to show. */
export const FIRST_PAGES: readonly PageToLookAt[] = [
  page("/", /^Mulai dalam tiga langkah$/),
  page("/usage", /^Menunggu permintaan pertama…$/),
  page("/usage", /^Lalu mulai ulang klien\.$/, { first: [pick(/^Klien$/, "Kimi Code"), unfold(/^Cara manual$/)] }),
  page("/usage", /^Bagian ini gagal dimuat$/, { refuses: /BillingService\/SummarizeUsage/ }),
  page("/keys", /^Belum ada kunci$/),
  page("/billing", /^Belum ada pengisian saldo$/),
  page("/transfers/sandbox", /^Belum ada merchant sandbox$/),
  page("/transfers/production", /^Belum ada merchant produksi$/),
  page("/transfers/sandbox", /^Belum ada transfer$/, {
    first: [press(/^Buat merchant sandbox$/), press(/^Sudah saya simpan$/)],
  }),
  page("/playground?model=demo%2Flarge", /^Saldo tidak cukup untuk permintaan ini$/, {
    first: [fill(/^Pesan$/, "Halo"), press(/^Kirim$/)],
  }),
  page("/keys?create=true", /^Menunggu permintaan pertama…$/, {
    first: [fill(/^Nama$/, "laptop"), press(/^Buat kunci$/), press(/^Sudah saya salin$/), follow(/^Ringkasan$/)],
  }),
];
