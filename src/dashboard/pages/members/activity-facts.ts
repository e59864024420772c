// The facts of a line of the activity log, as people read them: amounts in rupiah with their period, and what was changed as it was and as it is.

import type { Activity } from "#gen/saldo/identity/v1/member_pb.ts";
import { useFormats } from "../../i18n/format.ts";
import { useMessages } from "../../i18n/language.tsx";
import { ROLE_MESSAGES } from "../../layouts/role-messages.ts";
import { FACT_MESSAGES, type FactMessages } from "./fact-messages.ts";

type Facts = Readonly<Record<string, string>>;

/** Facts that are shown by their value alone, first. */
const PLAIN = ["name", "email", "from", "to", "role", "currencyCode", "externalId", "maxOpenRequests"];
/** Facts that are shown with their name, in this order. */
const NAMED = [
  "budget",
  "rateLimit",
  "tokenLimit",
  "expiresAt",
  "allowedModels",
  "allowedNetworks",
  "dailySpend",
  "percents",
  "mailTypes",
  "webhookTypes",
  "threshold",
  "timeZone",
  "buyerName",
  "buyerAddress",
  "buyerNpwp",
];

/** The action of a line. A budget that is set to nothing was removed. */
export function actionOf({ action, facts }: Pick<Activity, "action" | "facts">): string {
  return action === "member.budget_set" && facts["amount"] === undefined ? "member.budget_removed" : action;
}

/** The texts of a line's facts. */
export function useFactTexts({ action, facts }: Pick<Activity, "action" | "facts">): readonly string[] {
  const roles: Readonly<Record<string, string>> = useMessages(ROLE_MESSAGES);
  const messages: FactMessages = useMessages(FACT_MESSAGES);
  const formats = useFormats();
  const valueOf = useValueOf();
  const isRenamed = facts["before.name"] !== undefined;
  const plain = PLAIN.flatMap((name) =>
    facts[name] === undefined || (isRenamed && name === "name") ? [] : [roles[facts[name]] ?? facts[name]],
  );
  const named = (isRenamed ? ["name", ...NAMED] : NAMED).flatMap((name) => {
    const [was, is] = [valueOf(name, action, facts, "before."), valueOf(name, action, facts, "")];
    if (was === null && is === null) return [];
    const label = messages.names[name] ?? name;
    if (was === null) return [`${label}: ${is ?? ""}`];
    return [`${label}: ${was} → ${is ?? messages.none}`];
  });
  return [...plain, ...amountOf(), ...named];

  function amountOf(): readonly string[] {
    const { amount } = facts;
    if (amount === undefined || isOfMember(action)) return [];
    return [isRupiah(action, facts) ? formats.rupiah(amount) : amount];
  }
}

/** Coins of merchants are shown with their currency, as they were written. */
function isRupiah(action: string, facts: Facts): boolean {
  return !/^merchant/i.test(action) && facts["currencyCode"] === undefined;
}

/** The facts under which lines about members have a budget, and the others. */
const isOfMember = (action: string) => action.startsWith("member.budget");

function useValueOf() {
  const messages: FactMessages = useMessages(FACT_MESSAGES);
  const formats = useFormats();
  const listed = (text: string) =>
    text
      .split(" ")
      .map((type) => messages.types[type] ?? type)
      .join(", ");
  return (name: string, action: string, facts: Facts, before: "" | "before."): string | null => {
    const text = facts[before + name];
    switch (name) {
      case "budget": {
        const amount = facts[`${before}${isOfMember(action) ? "amount" : "budgetIdr"}`];
        if (amount === undefined) return null;
        const period = facts[`${before}budgetPeriod`] ?? facts[`${before}period`];
        return period === undefined
          ? formats.rupiah(amount)
          : `${formats.rupiah(amount)} ${messages.periods[period] ?? period}`;
      }
      case "dailySpend":
      case "threshold":
        return text === undefined ? null : formats.rupiah(text);
      case "rateLimit":
        if (text === undefined) return null;
        return text === "0" ? messages.unlimited : `${formats.count(Number(text))} ${messages.aMinute}`;
      case "tokenLimit":
        return text === undefined ? null : `${formats.count(Number(text))} ${messages.aMinute}`;
      case "expiresAt":
        return text === undefined ? null : formats.date(new Date(new Date(text).getTime() - 1));
      case "percents":
        return text === undefined
          ? null
          : text
              .split(" ")
              .map((percent) => `${percent} %`)
              .join(", ");
      case "allowedModels":
      case "allowedNetworks":
      case "mailTypes":
      case "webhookTypes":
        return text === undefined ? null : listed(text);
    }
    return text ?? null;
  };
}
