// Transfers of merchants, their history and the callbacks that report it.

import { defineEntity, p } from "@mikro-orm/core";
import { assetUnits, moment, now } from "./column-types.ts";
import { CallbackSettings, FeeSchedule, Merchant } from "./merchants.ts";

export const Transfer = defineEntity({
  name: "Transfer",
  tableName: "transfer",
  properties: {
    id: p.uuid().primary(),
    merchantId: p.manyToOne(Merchant).mapToPk().fieldName("merchant_id"),
    environment: p.text(),
    externalId: p.text(),
    slug: p.text(),
    currencyCode: p.text(),
    network: p.text(),
    impliedNetwork: p.boolean(),
    asset: p.text(),
    address: p.text(),
    orderedAddress: p.text(),
    received: assetUnits(),
    fee: assetUnits(),
    total: assetUnits(),
    feeId: p.manyToOne(FeeSchedule).mapToPk().fieldName("fee_id"),
    status: p.text(),
    awaitsApproval: p.boolean(),
    transactionHash: p.text().nullable(),
    confirmations: p.integer().default(0),
    reason: p.text().nullable(),
    createdAt: now(),
    updatedAt: now(),
    confirmedAt: moment().nullable(),
  },
  uniques: [
    { name: "transfer_slug", properties: ["slug"] },
    { name: "transfer_external_id", properties: ["merchantId", "environment", "externalId"] },
  ],
  indexes: [
    { name: "transfer_by_status", properties: ["environment", "status", "id"] },
    { name: "transfer_by_external_id", properties: ["externalId"] },
    { name: "transfer_by_merchant", properties: ["merchantId", "status", "id"] },
  ],
});

export const TransferEvent = defineEntity({
  name: "TransferEvent",
  tableName: "transfer_event",
  properties: {
    id: p.uuid().primary(),
    transferId: p.manyToOne(Transfer).mapToPk().fieldName("transfer_id"),
    status: p.text(),
    transactionHash: p.text().nullable(),
    confirmations: p.integer(),
    reason: p.text().nullable(),
    createdAt: now(),
  },
  indexes: [{ name: "transfer_event_of", properties: ["transferId", "id"] }],
});

export const CallbackDelivery = defineEntity({
  name: "CallbackDelivery",
  tableName: "callback_delivery",
  properties: {
    eventId: p
      .manyToOne(TransferEvent)
      .mapToPk()
      .fieldName("event_id")
      .updateRule("no action")
      .deleteRule("no action")
      .primary(),
    eventAt: moment(),
    transferId: p.manyToOne(Transfer).mapToPk().fieldName("transfer_id"),
    merchantId: p.manyToOne(CallbackSettings).mapToPk().fieldName("merchant_id"),
    state: p.text().default("pending"),
    attempts: p.integer().default(0),
    isLeased: p.boolean().default(false),
    isPassable: p.boolean().default(false),
    nextAttemptAt: moment().nullable(),
    giveUpAt: moment(),
    note: p.text().nullable(),
  },
  indexes: [{ name: "callback_delivery_of_transfer", properties: ["transferId", "eventAt"] }],
});

export const CallbackAttempt = defineEntity({
  name: "CallbackAttempt",
  tableName: "callback_attempt",
  properties: {
    id: p.uuid().primary(),
    eventId: p.manyToOne(CallbackDelivery).mapToPk().fieldName("event_id"),
    url: p.text(),
    startedAt: moment(),
    durationMs: p.integer(),
    httpStatus: p.integer().nullable(),
    problem: p.text().nullable(),
  },
  indexes: [{ name: "callback_attempt_of", properties: ["eventId", "id"] }],
});
