// The chains of accounts, and their signed roots.

import { defineEntity, p } from "@mikro-orm/core";
import { assetUnits, day, moment, now } from "./column-types.ts";
import { Account } from "./ledger.ts";

export const ProofWindow = defineEntity({
  name: "ProofWindow",
  tableName: "proof_window",
  properties: {
    seal: p.integer().autoincrement(false).primary(),
    fromTime: moment(),
    untilTime: moment(),
    day: day(),
    openedAt: now(),
    trace: p.text().nullable(),
  },
});

export const ProofPlace = defineEntity({
  name: "ProofPlace",
  tableName: "proof_place",
  uniques: [{ name: "proof_place_account_id_key", properties: ["accountId"] }],
  properties: {
    position: p.integer().autoincrement(false).primary(),
    accountId: p.manyToOne(Account).mapToPk().fieldName("account_id"),
  },
});

export const ProofNode = defineEntity({
  name: "ProofNode",
  tableName: "proof_node",
  properties: {
    level: p.integer().autoincrement(false).primary(),
    position: p.integer().autoincrement(false).primary(),
    seal: p.integer().autoincrement(false).primary(),
    hash: p.blob(),
  },
});

export const HouseSeal = defineEntity({
  name: "HouseSeal",
  tableName: "house_seal",
  properties: {
    seal: p.integer().autoincrement(false).primary(),
    lines: p.bigint("bigint"),
    digest: p.blob(),
    marks: p.blob(),
    sealedAt: now(),
  },
});

export const AccountSeal = defineEntity({
  name: "AccountSeal",
  tableName: "account_seal",
  indexes: [{ name: "account_seal_window", properties: ["seal", "accountId"] }],
  properties: {
    accountId: p.manyToOne(Account).mapToPk().fieldName("account_id").primary(),
    seal: p.integer().autoincrement(false).primary(),
    lines: p.bigint("bigint"),
    balance: assetUnits(),
    digest: p.blob(),
    marks: p.blob(),
    sealedAt: now(),
  },
});

export const ProofRoot = defineEntity({
  name: "ProofRoot",
  tableName: "proof_root",
  properties: {
    seal: p.integer().autoincrement(false).primary(),
    text: p.text(),
    signatures: p.json<object[]>(),
    signedAt: now(),
  },
});

export const ProofSent = defineEntity({
  name: "ProofSent",
  tableName: "proof_sent",
  properties: {
    seal: p.integer().autoincrement(false).primary(),
    place: p.text().primary(),
    sentAt: now(),
  },
});
