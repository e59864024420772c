// Automatic top-ups of an account, for operators: what is set and charged, and turning them off.

import { inspectAutoTopUp } from "../billing/auto-top-ups/settings.ts";
import { formatMoney, idr } from "../kernel/money.ts";
import { rupiahText } from "../kernel/rupiah-text.ts";
import { printable } from "../kernel/unprintable.ts";
import { turnOffAutoTopUp } from "../operator/commands/auto-top-ups.ts";
import type { Command } from "./command.ts";
import { operatorHere } from "./operator-here.ts";
import { accountFrom, accountOption as account } from "./which-account.ts";

type Inspected = Awaited<ReturnType<typeof inspectAutoTopUp>>;
type Facts = Readonly<Record<string, string | boolean | bigint | Date | null>>;

export const autoTopUpCommands: readonly Command[] = [
  {
    name: "auto-top-up show",
    about: "Shows an account's automatic top-ups: what is set, what this month came to, and the open order.",
    options: { account },
    async run(values, { database }) {
      const accountId = await accountFrom(values, database);
      return shown(accountId, await inspectAutoTopUp(await database(), accountId));
    },
  },
  {
    name: "auto-top-up off",
    about:
      "Turns an account's automatic top-ups off, until a member turns them on again. A charge that is made goes on.",
    options: { account, reason: { required: true, value: "R", about: "why, for the operators' log" } },
    async run(values, context) {
      const accountId = await accountFrom(values, context.database);
      const by = await operatorHere(context.database);
      const { wasOn } = await turnOffAutoTopUp(by, { accountId, reason: values.need("reason") });
      const { json, text } = shown(accountId, await inspectAutoTopUp(await context.database(), accountId));
      return { json: { ...json, wasOn }, text: [wasOn ? "Turned off." : "Nothing changed: they were off.", ...text] };
    },
  },
];

/** Money is micro-rupiah in the facts, a decimal text in JSON and `Rp …` for people. */
function shown(accountId: string, inspected: Inspected) {
  const { openOrder } = inspected;
  const order = openOrder === null ? null : orderFacts(openOrder);
  const facts = factsOf(accountId, inspected);
  return {
    json: { ...jsonOf(facts), openOrder: order === null ? null : jsonOf(order) },
    text: [...linesOf(facts), ...(order === null ? ["open order: -"] : linesOf(order, "open order, "))],
  };
}

function factsOf(accountId: string, { settings, pausedAt, method, charged }: Inspected): Facts {
  const left = settings === null ? null : settings.monthlyCap - charged;
  return {
    accountId,
    isOn: settings?.isOn ?? false,
    pausedAt,
    thresholdIdr: settings?.threshold ?? null,
    amountIdr: settings?.amount ?? null,
    monthlyCapIdr: settings?.monthlyCap ?? null,
    chargedThisMonthIdr: charged,
    leftThisMonthIdr: left !== null && left < 0n ? 0n : left,
    method: method?.label ?? null,
    provider: method?.provider ?? null,
    methodSavedAt: method?.createdAt ?? null,
  };
}

function orderFacts({ topUpId, provider, state, paid, createdAt, calledAt }: NonNullable<Inspected["openOrder"]>) {
  return { topUpId, provider, state, paidIdr: paid, createdAt, calledAt } satisfies Facts;
}

function jsonOf(facts: Facts): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(facts).map(([name, fact]) => [name, typeof fact === "bigint" ? formatMoney(idr(fact)) : fact]),
  );
}

function linesOf(facts: Facts, before = ""): string[] {
  return Object.entries(facts).map(([name, fact]) => {
    const label = name.replace(/Idr$/, "").replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
    return `${before}${label}: ${textOf(fact)}`;
  });
}

function textOf(fact: Facts[string]): string {
  if (fact === null) return "-";
  if (typeof fact === "boolean") return fact ? "yes" : "no";
  if (typeof fact === "bigint") return rupiahText(idr(fact));
  return fact instanceof Date ? fact.toISOString() : printable(fact);
}
