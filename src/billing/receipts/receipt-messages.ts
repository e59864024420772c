// The words of receipts and credit notes, in both languages.

import type { Language } from "../../kernel/preferred-language.ts";

const ID = {
  titles: { receipt: "Kuitansi", credit_note: "Nota kredit" },
  seller: "Penjual",
  buyer: "Pembeli",
  number: "Nomor",
  date: "Tanggal",
  paidVia: "Dibayar melalui",
  topUp: "Pengisian saldo",
  corrects: "Untuk kuitansi",
  what: { receipt: "Pengisian saldo prabayar", credit_note: "Pengembalian pengisian saldo" },
  description: "Keterangan",
  amount: "Jumlah",
  net: "Jumlah tanpa PPN",
  tax: (percent: string) => `PPN ${percent}%`,
  total: { receipt: "Total dibayar", credit_note: "Total dikembalikan" },
  inWords: "Terbilang",
  credited: "Saldo bertambah sebesar jumlah ini pada saat pembayaran dikonfirmasi.",
  creditedNet: "Saldo bertambah sebesar jumlah tanpa PPN pada saat pembayaran dikonfirmasi.",
  electronic: "Dokumen ini dibuat secara elektronik dan sah tanpa tanda tangan.",
  noTaxInvoice: "Dokumen ini bukan faktur pajak.",
  play: "CONTOH: pembayaran ini memakai uang mainan dari penyedia uji coba.",
  page: "Halaman",
  npwp: "NPWP",
  locale: "id-ID",
};

const EN: typeof ID = {
  titles: { receipt: "Receipt", credit_note: "Credit note" },
  seller: "Seller",
  buyer: "Buyer",
  number: "Number",
  date: "Date",
  paidVia: "Paid through",
  topUp: "Top-up",
  corrects: "For receipt",
  what: { receipt: "Top-up of prepaid balance", credit_note: "Refund of a top-up" },
  description: "Description",
  amount: "Amount",
  net: "Amount without VAT (PPN)",
  tax: (percent: string) => `VAT (PPN) ${percent}%`,
  total: { receipt: "Total paid", credit_note: "Total refunded" },
  inWords: "In words",
  credited: "The amount was credited to the balance when the payment was confirmed.",
  creditedNet: "The amount without VAT was credited to the balance when the payment was confirmed.",
  electronic: "This document was made electronically and is valid without a signature.",
  noTaxInvoice: "This document is not a tax invoice (faktur pajak).",
  play: "SAMPLE: this payment was made with play money of the test provider.",
  page: "Page",
  npwp: "NPWP",
  locale: "en-GB",
};

export const RECEIPT_MESSAGES: Readonly<Record<Language, typeof ID>> = { id: ID, en: EN };
