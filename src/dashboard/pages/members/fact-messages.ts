// What lines of the activity log show of a change: names and values of facts.

import type { Messages } from "../../i18n/language.tsx";

export type FactMessages = {
  readonly names: Readonly<Record<string, string>>;
  readonly periods: Readonly<Record<string, string>>;
  readonly types: Readonly<Record<string, string>>;
  readonly none: string;
  readonly aMinute: string;
  readonly unlimited: string;
};

export const FACT_MESSAGES = {
  id: {
    names: {
      name: "Nama",
      budget: "Anggaran",
      rateLimit: "Permintaan",
      tokenLimit: "Token",
      expiresAt: "Berlaku sampai",
      allowedModels: "Model",
      allowedNetworks: "Jaringan",
      dailySpend: "Pemakaian harian",
      percents: "Saat terpakai",
      mailTypes: "E-mail",
      webhookTypes: "Webhook",
      threshold: "Batas saldo",
      timeZone: "Zona waktu",
      buyerName: "Pembeli",
      buyerAddress: "Alamat",
      buyerNpwp: "NPWP",
    },
    periods: { day: "per hari", month: "per bulan", total: "seluruhnya" },
    types: {
      "balance.low": "saldo menipis",
      "key.budget_reached": "anggaran kunci",
      "member.budget_reached": "anggaran anggota",
      "usage.daily": "pemakaian harian",
      "top_up.succeeded": "isi ulang",
    },
    none: "tidak ada",
    aMinute: "per menit",
    unlimited: "tanpa batas",
  },
  en: {
    names: {
      name: "Name",
      budget: "Budget",
      rateLimit: "Requests",
      tokenLimit: "Tokens",
      expiresAt: "Valid until",
      allowedModels: "Models",
      allowedNetworks: "Networks",
      dailySpend: "Daily spend",
      percents: "When used",
      mailTypes: "Mail",
      webhookTypes: "Webhook",
      threshold: "Balance threshold",
      timeZone: "Time zone",
      buyerName: "Buyer",
      buyerAddress: "Address",
      buyerNpwp: "NPWP",
    },
    periods: { day: "a day", month: "a month", total: "in total" },
    types: {
      "balance.low": "low balance",
      "key.budget_reached": "budget of a key",
      "member.budget_reached": "budget of a member",
      "usage.daily": "daily spend",
      "top_up.succeeded": "top-up",
    },
    none: "none",
    aMinute: "a minute",
    unlimited: "no limit",
  },
} satisfies Messages<FactMessages>;
