// Automatic top-ups: saved payment methods, what accounts want, and the mails that they are owed.

import { defineEntity, p } from "@mikro-orm/core";
import { moment, now } from "./column-types.ts";
import { Account } from "./ledger.ts";

export const PaymentMethod = defineEntity({
  name: "PaymentMethod",
  tableName: "payment_method",
  properties: {
    id: p.uuid().primary(),
    accountId: p.manyToOne(Account).mapToPk().fieldName("account_id"),
    provider: p.text(),
    token: p.text().nullable(),
    label: p.text(),
    createdAt: now(),
    removedAt: moment().nullable(),
  },
});

export const AutoTopUp = defineEntity({
  name: "AutoTopUp",
  tableName: "auto_top_up",
  properties: {
    accountId: p
      .manyToOne(Account)
      .mapToPk()
      .fieldName("account_id")
      .updateRule("no action")
      .deleteRule("no action")
      .primary(),
    isOn: p.boolean(),
    threshold: p.bigint("bigint"),
    amount: p.bigint("bigint"),
    monthlyCap: p.bigint("bigint"),
    resumedAt: now(),
    pausedAt: moment().nullable(),
    updatedAt: now(),
    notBefore: moment().nullable(),
  },
});

export const AutoTopUpNotice = defineEntity({
  name: "AutoTopUpNotice",
  tableName: "auto_top_up_notice",
  properties: {
    id: p.uuid().primary(),
    accountId: p.manyToOne(Account).mapToPk().fieldName("account_id"),
    kind: p.text(),
    about: p.text(),
    amount: p.bigint("bigint"),
    mailAt: now().nullable(),
    mailAttempts: p.integer().default(0),
    mailedAt: moment().nullable(),
    mailedPeople: p.array().columnType("uuid[]").defaultRaw("'{}'::uuid[]"),
  },
  uniques: [{ name: "auto_top_up_notice_once", properties: ["accountId", "about"] }],
});
