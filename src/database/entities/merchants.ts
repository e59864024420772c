// Merchants with their credentials, funds, fees, limits and settings of callbacks.

import { defineEntity, p } from "@mikro-orm/core";
import { assetUnits, coins, day, moment, now } from "./column-types.ts";
import { Account } from "./ledger.ts";

export const Merchant = defineEntity({
  name: "Merchant",
  tableName: "merchant",
  properties: {
    id: p.uuid().primary(),
    accountId: p.manyToOne(Account).mapToPk().fieldName("account_id"),
    environment: p.text(),
    createdAt: now(),
  },
  indexes: [{ name: "merchant_account", properties: ["accountId"] }],
});

export const MerchantCredential = defineEntity({
  name: "MerchantCredential",
  tableName: "merchant_credential",
  properties: {
    id: p.uuid().primary(),
    merchantId: p.manyToOne(Merchant).mapToPk().fieldName("merchant_id"),
    keyDigest: p.blob(),
    secretDigest: p.blob(),
    keyPrefix: p.text(),
    createdAt: now(),
    revokedAt: moment().nullable(),
    personId: p.uuid().nullable(),
  },
  uniques: [{ name: "merchant_credential_key_digest_key", properties: ["keyDigest"] }],
});

export const MerchantFund = defineEntity({
  name: "MerchantFund",
  tableName: "merchant_fund",
  properties: {
    merchantId: p.manyToOne(Merchant).mapToPk().fieldName("merchant_id").primary(),
    asset: p.text().primary(),
    id: p.uuid(),
    accountId: p.manyToOne(Account).mapToPk().fieldName("account_id"),
    posted: assetUnits().defaultRaw("0"),
    held: assetUnits().defaultRaw("0"),
  },
  uniques: [{ name: "merchant_fund_id_key", properties: ["id"] }],
});

export const FeeSchedule = defineEntity({
  name: "FeeSchedule",
  tableName: "fee_schedule",
  properties: {
    id: p.uuid().primary(),
    merchantId: p.manyToOne(Merchant).mapToPk().fieldName("merchant_id").deleteRule("no action").nullable(),
    currencyCode: p.text().nullable(),
    version: p.integer(),
    flat: p.text(),
    rate: p.text(),
    min: p.text().nullable(),
    max: p.text().nullable(),
    createdAt: now(),
  },
});

export const MerchantLimit = defineEntity({
  name: "MerchantLimit",
  tableName: "merchant_limit",
  properties: {
    merchantId: p.manyToOne(Merchant).mapToPk().fieldName("merchant_id").primary(),
    currencyCode: p.text().primary(),
    perTransfer: coins().nullable(),
    daily: coins().nullable(),
    approvalAbove: coins().nullable(),
    usedDay: day().nullable(),
    used: coins().defaultRaw("0"),
  },
});

export const DefaultLimit = defineEntity({
  name: "DefaultLimit",
  tableName: "default_limit",
  properties: {
    currencyCode: p.text().primary(),
    perTransfer: coins().nullable(),
    daily: coins().nullable(),
    approvalAbove: coins().nullable(),
  },
});

export const CallbackSettings = defineEntity({
  name: "CallbackSettings",
  tableName: "callback_settings",
  properties: {
    merchantId: p
      .manyToOne(Merchant)
      .mapToPk()
      .fieldName("merchant_id")
      .updateRule("no action")
      .deleteRule("no action")
      .primary(),
    url: p.text().nullable(),
    token: p.text(),
    secret: p.text(),
    failingSince: moment().nullable(),
    stoppedAt: moment().nullable(),
    updatedAt: now(),
  },
});
