// The messages of the operators' page of the margin.

import type { Messages } from "../../../i18n/language.tsx";

export const MARGIN_MESSAGES = {
  id: {
    title: "Margin",
    by: "Per",
    model: "Model",
    upstream: "Upstream",
    account: "Akun",
    revenue: "Pendapatan",
    credited: "Dikembalikan",
    cost: "Biaya upstream",
    margin: "Margin",
    requests: "Permintaan",
    uncollected: "Tak tertagih",
    uncollectedHint: "biaya di atas saldo pelanggan",
    unbilled: "Tak ditagihkan",
    unbilledHint: "dilaporkan di atas yang ditagih, percobaan yang dihentikan",
    withoutCost: "Biaya tak diketahui",
    withoutCostWarning:
      "permintaan dijawab tanpa biaya upstream yang diketahui: margin yang tampil terlalu tinggi sebesar itu. Isi biaya rute di katalog.",
    lines: "Rincian margin, yang terkecil lebih dulu",
    nothing: "Tidak ada permintaan di rentang ini",
    nothingAbout: "Pilih rentang lain; paling panjang 31 hari.",
    noUpstream: "tidak ada upstream yang menjawab",
  },
  en: {
    title: "Margin",
    by: "By",
    model: "Model",
    upstream: "Upstream",
    account: "Account",
    revenue: "Revenue",
    credited: "Credited back",
    cost: "Upstream cost",
    margin: "Margin",
    requests: "Requests",
    uncollected: "Uncollected",
    uncollectedHint: "cost beyond customers' balances",
    unbilled: "Unbilled",
    unbilledHint: "reported above what was billed, abandoned attempts",
    withoutCost: "Cost unknown",
    withoutCostWarning:
      "answered requests have no known upstream cost: the margin shown is too high by that. Set the cost of routes in the catalog.",
    lines: "Margin by line, smallest first",
    nothing: "No requests in this range",
    nothingAbout: "Choose another range; at most 31 days.",
    noUpstream: "no upstream answered",
  },
} satisfies Messages<Record<string, string>>;
