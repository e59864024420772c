// Payouts of transfers on chains, and the wallets they are paid from.

import { defineEntity, p } from "@mikro-orm/core";
import { assetUnits, day, moment, now } from "./column-types.ts";
import { Transfer } from "./transfers.ts";

export const Wallet = defineEntity({
  name: "Wallet",
  tableName: "wallet",
  properties: {
    id: p.uuid().primary(),
    chain: p.text(),
    address: p.text(),
    firstNonce: p.integer(),
    nextNonce: p.integer(),
    leasedBy: p.uuid().nullable(),
    leasedUntil: moment().nullable(),
    haltedAt: moment().nullable(),
    haltReason: p.text().nullable(),
    headNumber: p.bigint("bigint").nullable(),
    headAt: moment().nullable(),
    systemIdentifier: p.text().nullable(),
    timeline: p.integer().nullable(),
    books: p.text().nullable(),
    awaitsJournalsAt: moment().nullable(),
  },
  uniques: [{ name: "wallet_address", properties: ["chain", "address"] }],
});

export const WalletDay = defineEntity({
  name: "WalletDay",
  tableName: "wallet_day",
  properties: {
    walletId: p.manyToOne(Wallet).mapToPk().fieldName("wallet_id").primary(),
    asset: p.text().primary(),
    day: day(),
    units: assetUnits(),
  },
});

export const Payout = defineEntity({
  name: "Payout",
  tableName: "payout",
  properties: {
    id: p.uuid().primary(),
    walletId: p.manyToOne(Wallet).mapToPk().fieldName("wallet_id"),
    nonce: p.integer(),
    transferId: p.manyToOne(Transfer).mapToPk().fieldName("transfer_id").deleteRule("no action").nullable(),
    state: p.text(),
    attempts: p.integer().default(0),
    fillingReason: p.text().nullable(),
    finalHash: p.text().nullable(),
    chosenAt: now(),
    endedAt: moment().nullable(),
    recheckAt: moment().nullable(),
    reopenedAt: moment().nullable(),
    shortAcceptedAt: moment().nullable(),
  },
  uniques: [{ name: "payout_nonce", properties: ["walletId", "nonce"] }],
  indexes: [{ name: "payout_of_transfer", properties: ["transferId", "id"] }],
});

export const PayoutAttempt = defineEntity({
  name: "PayoutAttempt",
  tableName: "payout_attempt",
  properties: {
    payoutId: p.manyToOne(Payout).mapToPk().fieldName("payout_id").primary(),
    number: p.integer().primary(),
    kind: p.text(),
    raw: p.text(),
    hash: p.text(),
    feeMost: assetUnits(),
    feePriority: assetUnits(),
    signedAt: now(),
    broadcastAt: moment().nullable(),
    seenAt: moment().nullable(),
    state: p.text().default("signed"),
    blockNumber: p.bigint("bigint").nullable(),
    blockHash: p.text().nullable(),
  },
  uniques: [{ name: "payout_attempt_hash", properties: ["hash"] }],
});

export const PayoutJournal = defineEntity({
  name: "PayoutJournal",
  tableName: "payout_journal",
  properties: {
    walletId: p.manyToOne(Wallet).mapToPk().fieldName("wallet_id").primary(),
    id: p.uuid().primary(),
    host: p.text(),
    finalNonce: p.integer().nullable(),
    systemIdentifier: p.text(),
    timeline: p.integer(),
    comparedAt: now(),
    books: p.text().nullable(),
    owner: p.uuid().nullable(),
    ownedAt: moment().nullable(),
  },
});

export const PayoutLostAttempt = defineEntity({
  name: "PayoutLostAttempt",
  tableName: "payout_lost_attempt",
  properties: {
    hash: p.text().primary(),
    walletId: p.manyToOne(Wallet).mapToPk().fieldName("wallet_id"),
    journalId: p.uuid(),
    nonce: p.integer(),
    transferId: p.uuid(),
    number: p.integer(),
    kind: p.text(),
    raw: p.text(),
    feeMost: assetUnits(),
    feePriority: assetUnits(),
    foundAt: now(),
    resolvedAt: moment().nullable(),
    transfer: p.json().nullable(),
  },
});

export const PayoutForeignPayment = defineEntity({
  name: "PayoutForeignPayment",
  tableName: "payout_foreign_payment",
  properties: {
    hash: p.text().primary(),
    walletId: p.manyToOne(Wallet).mapToPk().fieldName("wallet_id"),
    nonce: p.integer(),
    network: p.text(),
    currencyCode: p.text(),
    address: p.text(),
    units: assetUnits(),
    foundAt: now(),
  },
  indexes: [{ name: "payout_foreign_payment_units", properties: ["units", "address"] }],
});

export const PayoutStop = defineEntity({
  name: "PayoutStop",
  tableName: "payout_stop",
  properties: {
    scope: p.text().primary(),
    operator: p.text(),
    reason: p.text(),
    stoppedAt: now(),
  },
});

export const SandboxTransaction = defineEntity({
  name: "SandboxTransaction",
  tableName: "sandbox_transaction",
  properties: {
    hash: p.text().primary(),
    nonce: p.integer(),
    fee: assetUnits(),
    outcome: p.text(),
    readyAtMs: p.bigint("bigint").nullable(),
    minedAtMs: p.bigint("bigint").nullable(),
  },
});

export const SandboxWallet = defineEntity({
  name: "SandboxWallet",
  tableName: "sandbox_wallet",
  properties: {
    theRow: p.boolean().primary().default(true),
    mined: p.integer().default(0),
    lastMinedAtMs: p.bigint("bigint").defaultRaw("0"),
  },
});
