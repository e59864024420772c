// Money that comes in: top-ups, disputes, what is owed, and the alerts on a low balance.

import { defineEntity, p } from "@mikro-orm/core";
import { moment, now } from "./column-types.ts";
import { PaymentMethod } from "./auto-top-ups.ts";
import { Account } from "./ledger.ts";

export const LowBalanceAlert = defineEntity({
  name: "LowBalanceAlert",
  tableName: "low_balance_alert",
  properties: {
    accountId: p
      .manyToOne(Account)
      .mapToPk()
      .fieldName("account_id")
      .updateRule("no action")
      .deleteRule("no action")
      .primary(),
    threshold: p.bigint("bigint"),
    isBelow: p.boolean(),
    nextAttemptAt: moment().nullable(),
    attempts: p.integer().default(0),
    notifiedAt: moment().nullable(),
    mailedPeople: p.array().columnType("uuid[]").defaultRaw("'{}'::uuid[]"),
  },
});

export const TopUp = defineEntity({
  name: "TopUp",
  tableName: "top_up",
  properties: {
    id: p.uuid().primary(),
    accountId: p.manyToOne(Account).mapToPk().fieldName("account_id"),
    idempotencyKey: p.text(),
    amount: p.bigint("bigint"),
    provider: p.text(),
    state: p.text().default("created"),
    providerReference: p.text().nullable(),
    paymentUrl: p.text().nullable(),
    givenBack: p.bigint("bigint").defaultRaw("0"),
    problem: p.text().nullable(),
    revision: p.integer().default(1),
    failures: p.integer().default(0),
    nextCheckAt: moment().nullable(),
    openingUntil: moment().nullable(),
    createdAt: now(),
    expiresAt: moment(),
    paidAt: moment().nullable(),
    changedAt: now(),
    dispute: p.text().nullable(),
    tax: p.bigint("bigint").nullable(),
    taxRate: p.integer().nullable(),
    taxIncluded: p.boolean().nullable(),
    taxGivenBack: p.bigint("bigint").nullable(),
    receiptedAt: moment().nullable(),
    notedBack: p.bigint("bigint").nullable(),
    methodId: p
      .manyToOne(PaymentMethod)
      .mapToPk()
      .fieldName("method_id")
      .nullable()
      .updateRule("no action")
      .deleteRule("no action"),
    chargeCalledAt: moment().nullable(),
    savesMethod: p.boolean().nullable(),
    methodDueAt: moment().nullable(),
  },
  uniques: [{ name: "top_up_account_id_idempotency_key_key", properties: ["accountId", "idempotencyKey"] }],
  indexes: [
    { name: "top_up_changed", properties: ["changedAt"] },
    { name: "top_up_by_state", properties: ["provider", "state", "id"] },
    { name: "top_up_reference", properties: ["provider", "providerReference"] },
    { name: "top_up_account", properties: ["accountId", "id"] },
  ],
});

export const ReceiptSeries = defineEntity({
  name: "ReceiptSeries",
  tableName: "receipt_series",
  properties: { series: p.text().primary(), year: p.integer().primary(), lastNumber: p.integer().default(0) },
});

export const Receipt = defineEntity({
  name: "Receipt",
  tableName: "receipt",
  properties: {
    id: p.uuid().primary(),
    kind: p.text(),
    series: p.text(),
    year: p.integer(),
    number: p.integer(),
    accountId: p.manyToOne(Account).mapToPk().fieldName("account_id"),
    topUpId: p.manyToOne(TopUp).mapToPk().fieldName("top_up_id"),
    net: p.bigint("bigint"),
    tax: p.bigint("bigint"),
    taxRate: p.integer(),
    taxIncluded: p.boolean(),
    givenBack: p.bigint("bigint"),
    provider: p.text(),
    seller: p.json(),
    buyer: p.json(),
    datedAt: moment(),
    issuedAt: now(),
  },
  uniques: [
    { name: "receipt_number", properties: ["series", "year", "number"] },
    { name: "receipt_once", properties: ["topUpId", "kind", "givenBack"] },
  ],
  indexes: [{ name: "receipt_account", properties: ["accountId", "id"] }],
});

export const ReceiptBuyer = defineEntity({
  name: "ReceiptBuyer",
  tableName: "receipt_buyer",
  properties: {
    accountId: p
      .manyToOne(Account)
      .mapToPk()
      .fieldName("account_id")
      .updateRule("no action")
      .deleteRule("no action")
      .primary(),
    name: p.text(),
    address: p.text(),
    npwp: p.text(),
    changedAt: now(),
  },
});

export const PaymentDispute = defineEntity({
  name: "PaymentDispute",
  tableName: "payment_dispute",
  properties: {
    provider: p.text().primary(),
    disputeId: p.text().primary(),
    topUpId: p.manyToOne(TopUp).mapToPk().fieldName("top_up_id"),
    state: p.text(),
    toldAt: now(),
  },
  indexes: [{ name: "payment_dispute_top_up", properties: ["topUpId"] }],
});

export const PaymentEvent = defineEntity({
  name: "PaymentEvent",
  tableName: "payment_event",
  properties: {
    id: p.uuid().primary(),
    provider: p.text(),
    eventKey: p.text(),
    orderId: p.text(),
    topUpId: p.manyToOne(TopUp).mapToPk().fieldName("top_up_id").deleteRule("no action").nullable(),
    status: p.text(),
    amount: p.text(),
    finding: p.text(),
    receivedAt: now(),
  },
  uniques: [{ name: "payment_event_once", properties: ["provider", "eventKey"] }],
  indexes: [{ name: "payment_event_top_up", properties: ["topUpId"] }],
});

export const Receivable = defineEntity({
  name: "Receivable",
  tableName: "receivable",
  properties: {
    id: p.uuid().primary(),
    accountId: p.manyToOne(Account).mapToPk().fieldName("account_id"),
    topUpId: p.manyToOne(TopUp).mapToPk().fieldName("top_up_id"),
    amount: p.bigint("bigint"),
    collected: p.bigint("bigint").defaultRaw("0"),
    createdAt: now(),
  },
  indexes: [{ name: "receivable_top_up", properties: ["topUpId"] }],
});

export const SandboxPayment = defineEntity({
  name: "SandboxPayment",
  tableName: "sandbox_payment",
  properties: {
    orderId: p.text().primary(),
    token: p.text(),
    amount: p.bigint("bigint"),
    paid: p.bigint("bigint").defaultRaw("0"),
    givenBack: p.bigint("bigint").defaultRaw("0"),
    status: p.text().default("pending"),
    returnUrl: p.text(),
    expiresAt: moment(),
    createdAt: now(),
    savedCard: p.text().nullable(),
  },
  uniques: [{ name: "sandbox_payment_token_key", properties: ["token"] }],
});

export const SandboxProvider = defineEntity({
  name: "SandboxProvider",
  tableName: "sandbox_provider",
  properties: {
    theRow: p.boolean().primary().default(true),
    webhookSecret: p.text(),
  },
});
