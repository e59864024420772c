// The mails of alerts, first in the reader's language and then in the other.

import { idr } from "../../kernel/money.ts";
import type { Language } from "../../kernel/preferred-language.ts";
import { rupiahText } from "../../kernel/rupiah-text.ts";
import type { Alert } from "./alert-types.ts";

/** Where a mail leads. */
export type AlertPlaces = {
  readonly alerts: string;
  readonly keys: string;
  readonly usage: string;
  readonly billing: string;
};

type Words = { readonly subject: string; readonly now: string };
type Texts = Readonly<Record<Language, Words>> & { readonly url: string };

/** The words of an alert's mail. */
export function alertMail(alert: Alert, places: AlertPlaces, language: Language): { subject: string; text: string } {
  const texts = textsOf(alert, places);
  const [first, second] = language === "en" ? [texts.en, texts.id] : [texts.id, texts.en];
  const change = {
    id: `Ubah peringatan di: ${places.alerts}`,
    en: `Change your alerts at: ${places.alerts}`,
  };
  const last = language === "en" ? [change.en, change.id] : [change.id, change.en];
  return {
    subject: `Saldo: ${first.subject} / ${second.subject}`,
    text: [first.now, second.now, "", texts.url, "", ...last].join("\n"),
  };
}

function textsOf(alert: Alert, places: AlertPlaces): Texts {
  switch (alert.type) {
    case "balance.low":
      return lowBalance(alert.data, places);
    case "key.budget_reached":
      return budgetReached(alert.data, places);
    case "usage.daily":
      return dailySpend(alert.data, places);
    case "top_up.succeeded":
      break;
  }
  return topUpSucceeded(alert.data, places);
}

type Facts<Type extends Alert["type"]> = Extract<Alert, { readonly type: Type }>["data"];

function lowBalance({ balance, threshold }: Facts<"balance.low">, { billing: url }: AlertPlaces): Texts {
  return {
    url,
    id: {
      subject: "saldo Anda menipis",
      now: `Saldo Anda ${rupiah(balance, "id")}, di bawah batas ${rupiah(threshold, "id")} yang Anda tetapkan.`,
    },
    en: {
      subject: "your balance is low",
      now: `Your balance is ${rupiah(balance, "en")}, below the ${rupiah(threshold, "en")} that you set.`,
    },
  };
}

const PERIODS = {
  id: { day: "hari ini", month: "bulan ini", total: "seluruhnya" },
  en: { day: "for today", month: "for this month", total: "in total" },
} as const;

function budgetReached(facts: Facts<"key.budget_reached">, { keys: url }: AlertPlaces): Texts {
  const { percent, budget, spent, period } = facts;
  const name = JSON.stringify(facts.keyName);
  return {
    url,
    id: {
      subject: `anggaran kunci terpakai ${percent} %`,
      now: `Kunci ${name} telah memakai ${rupiah(spent, "id")} dari anggaran ${rupiah(budget, "id")} (${PERIODS.id[period]}).`,
    },
    en: {
      subject: `${percent} % of a key's budget is used`,
      now: `The key ${name} has used ${rupiah(spent, "en")} of its budget of ${rupiah(budget, "en")} (${PERIODS.en[period]}).`,
    },
  };
}

function dailySpend(facts: Facts<"usage.daily">, { usage: url }: AlertPlaces): Texts {
  const { percent, day, spent, dailySpend: whole } = facts;
  return {
    url,
    id: {
      subject: `pemakaian hari ini mencapai ${percent} %`,
      now: `Pemakaian pada ${day} (WIB) mencapai ${rupiah(spent, "id")}, yaitu ${percent} % atau lebih dari ${rupiah(whole, "id")} yang Anda tetapkan.`,
    },
    en: {
      subject: `today's spend has reached ${percent} %`,
      now: `The spend of ${day} (WIB) has reached ${rupiah(spent, "en")}, which is ${percent} % or more of the ${rupiah(whole, "en")} that you set.`,
    },
  };
}

function topUpSucceeded({ amount }: Facts<"top_up.succeeded">, { billing: url }: AlertPlaces): Texts {
  return {
    url,
    id: { subject: "isi ulang berhasil", now: `Isi ulang ${rupiah(amount, "id")} sudah masuk ke saldo Anda.` },
    en: { subject: "top-up succeeded", now: `Your top-up of ${rupiah(amount, "en")} was added to your balance.` },
  };
}

function rupiah(micro: string, language: Language): string {
  return rupiahText(idr(BigInt(micro)), language);
}
