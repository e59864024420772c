// The mails of alerts, first in the reader's language and then in the other.

import { idr } from "../../kernel/money.ts";
import type { Language } from "../../kernel/preferred-language.ts";
import { rupiahText } from "../../kernel/rupiah-text.ts";
import { type MailAudience, type MailReader, MONEY_READERS } from "../mail-readers.ts";
import type { Alert } from "./alert-types.ts";

/** Where a mail leads. */
export type AlertPlaces = {
  readonly alerts: string;
  readonly keys: string;
  readonly members: string;
  readonly usage: string;
  readonly billing: string;
};

type Words = { readonly subject: string; readonly now: string };
type Texts = Readonly<Record<Language, Words>> & { readonly url: string };
type MailFacts = {
  readonly reader: MailReader;
  /** The address of the member whose budget it is. Null: it is another alert, or the person is gone. */
  readonly member: string | null;
  readonly places: AlertPlaces;
};

/** Whom the mail of an alert is for. Budgets are read by owners and admins, and each by the person it limits. */
export function audienceOf(alert: Alert): MailAudience {
  if (alert.type !== "key.budget_reached" && alert.type !== "member.budget_reached") return MONEY_READERS;
  return { roles: ["owner", "admin"], personId: alert.data.personId ?? null };
}

/** The words of an alert's mail to one reader. */
export function alertMail(alert: Alert, facts: MailFacts): { subject: string; text: string } {
  const { reader, places } = facts;
  const texts = textsOf(alert, facts);
  const [first, second] = reader.language === "en" ? [texts.en, texts.id] : [texts.id, texts.en];
  const change = {
    id: `Ubah peringatan di: ${places.alerts}`,
    en: `Change your alerts at: ${places.alerts}`,
  };
  const last = reader.language === "en" ? [change.en, change.id] : [change.id, change.en];
  return {
    subject: `Saldo: ${first.subject} / ${second.subject}`,
    text: [first.now, second.now, "", texts.url, ...(reader.mayChange ? ["", ...last] : [])].join("\n"),
  };
}

function textsOf(alert: Alert, facts: MailFacts): Texts {
  const { places } = facts;
  switch (alert.type) {
    case "balance.low":
      return lowBalance(alert.data, places);
    case "key.budget_reached":
      return keyBudgetReached(alert.data, places);
    case "member.budget_reached":
      return memberBudgetReached(alert.data, facts);
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

type BudgetReached = Pick<Facts<"member.budget_reached">, "percent" | "budget" | "spent" | "period" | "refused">;

/** What a budget's owner has used, and whether a request was refused for it. */
function usedOf({ budget, spent, period, refused }: BudgetReached) {
  const of = (language: Language) =>
    [rupiah(spent, language), rupiah(budget, language), PERIODS[language][period]] as const;
  const [id, en] = [of("id"), of("en")];
  return {
    id: `memakai ${id[0]} dari anggaran ${id[1]} (${id[2]}).${refused === true ? " Sisanya tidak cukup untuk sebuah permintaan, yang ditolak." : ""}`,
    en: `used ${en[0]} of the budget of ${en[1]} (${en[2]}).${refused === true ? " What is left did not cover a request, which was refused." : ""}`,
  };
}

function keyBudgetReached(facts: Facts<"key.budget_reached">, { keys: url }: AlertPlaces): Texts {
  const { percent, refused } = facts;
  const name = JSON.stringify(facts.keyName);
  const used = usedOf(facts);
  return {
    url,
    id: {
      subject:
        refused === true
          ? "anggaran kunci tidak cukup untuk sebuah permintaan"
          : `anggaran kunci terpakai ${percent} %`,
      now: `Kunci ${name} telah ${used.id}`,
    },
    en: {
      subject: refused === true ? "a key's budget did not cover a request" : `${percent} % of a key's budget is used`,
      now: `The key ${name} has ${used.en}`,
    },
  };
}

function memberBudgetReached(facts: Facts<"member.budget_reached">, { reader, member, places }: MailFacts): Texts {
  const { percent, refused, personId } = facts;
  const used = usedOf(facts);
  const isOwn = reader.id === personId;
  const whose = isOwn
    ? { id: "anggaran Anda", en: "your budget" }
    : { id: "anggaran seorang anggota", en: "a member's budget" };
  const who = isOwn
    ? { id: "Anda", en: "You have" }
    : { id: `Anggota ${member ?? personId}`, en: `The member ${member ?? personId} has` };
  return {
    url: isOwn ? places.usage : places.members,
    id: {
      subject:
        refused === true ? `${whose.id} tidak cukup untuk sebuah permintaan` : `${whose.id} terpakai ${percent} %`,
      now: `${who.id} telah ${used.id}`,
    },
    en: {
      subject: refused === true ? `${whose.en} did not cover a request` : `${percent} % of ${whose.en} is used`,
      now: `${who.en} ${used.en}`,
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
