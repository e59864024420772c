// What accounts are alerted of, and the webhook that alerts are posted to.

import { defineEntity, p } from "@mikro-orm/core";
import { integers, moment, now } from "./column-types.ts";
import { Account } from "./ledger.ts";

const accountKey = () =>
  p.manyToOne(Account).mapToPk().fieldName("account_id").updateRule("no action").deleteRule("no action").primary();

export const AlertSettings = defineEntity({
  name: "AlertSettings",
  tableName: "alert_settings",
  properties: {
    accountId: accountKey(),
    dailySpend: p.bigint("bigint").nullable(),
    percents: integers(),
    mailTypes: p.array().columnType("text[]"),
    webhookTypes: p.array().columnType("text[]"),
    since: now(),
  },
});

export const AlertEvent = defineEntity({
  name: "AlertEvent",
  tableName: "alert_event",
  properties: {
    id: p.uuid().primary(),
    accountId: p.manyToOne(Account).mapToPk().fieldName("account_id"),
    type: p.text(),
    crossing: p.text(),
    percent: p.integer().default(0),
    data: p.json(),
    createdAt: now(),
    mailAt: moment().nullable(),
    mailAttempts: p.integer().default(0),
    mailedAt: moment().nullable(),
    mailedPeople: p.array().columnType("uuid[]").defaultRaw("'{}'::uuid[]"),
  },
  uniques: [{ name: "alert_event_once", properties: ["accountId", "crossing", "percent"] }],
});

export const WebhookSettings = defineEntity({
  name: "WebhookSettings",
  tableName: "webhook_settings",
  properties: {
    accountId: accountKey(),
    url: p.text().nullable(),
    secret: p.text(),
    failingSince: moment().nullable(),
    stoppedAt: moment().nullable(),
    updatedAt: now(),
  },
});

export const WebhookDelivery = defineEntity({
  name: "WebhookDelivery",
  tableName: "webhook_delivery",
  properties: {
    eventId: p
      .manyToOne(AlertEvent)
      .mapToPk()
      .fieldName("event_id")
      .updateRule("no action")
      .deleteRule("no action")
      .primary(),
    eventAt: moment(),
    accountId: p.manyToOne(WebhookSettings).mapToPk().fieldName("account_id"),
    state: p.text().default("pending"),
    attempts: p.integer().default(0),
    isLeased: p.boolean().default(false),
    isPassable: p.boolean().default(false),
    nextAttemptAt: moment().nullable(),
    giveUpAt: moment(),
    note: p.text().nullable(),
  },
});

export const WebhookAttempt = defineEntity({
  name: "WebhookAttempt",
  tableName: "webhook_attempt",
  properties: {
    id: p.uuid().primary(),
    eventId: p.manyToOne(WebhookDelivery).mapToPk().fieldName("event_id"),
    url: p.text(),
    startedAt: moment(),
    durationMs: p.integer(),
    httpStatus: p.integer().nullable(),
    problem: p.text().nullable(),
  },
  indexes: [{ name: "webhook_attempt_of", properties: ["eventId", "id"] }],
});
