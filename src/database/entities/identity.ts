// Customers, their sessions and second factors, and the tokens of services.

import { defineEntity, p } from "@mikro-orm/core";
import { moment, now } from "./column-types.ts";
import { Account } from "./ledger.ts";

export const Customer = defineEntity({
  name: "Customer",
  tableName: "customer",
  properties: {
    accountId: p
      .manyToOne(Account)
      .mapToPk()
      .fieldName("account_id")
      .updateRule("no action")
      .deleteRule("no action")
      .primary(),
    email: p.text(),
    createdAt: now(),
    language: p.text().default("id"),
    timeZone: p.text().default("Asia/Jakarta"),
    name: p.text().nullable(),
  },
});

export const ServiceToken = defineEntity({
  name: "ServiceToken",
  tableName: "service_token",
  properties: {
    id: p.uuid().primary(),
    digest: p.blob(),
    accountId: p.manyToOne(Account).mapToPk().fieldName("account_id").deleteRule("no action").nullable(),
    name: p.text(),
    prefix: p.text(),
    lastFour: p.text(),
    createdAt: now(),
    revokedAt: moment().nullable(),
    expiresAt: moment().defaultRaw("(clock_timestamp() + '90 days'::interval)"),
    lastUsedAt: moment().nullable(),
    scopes: p.array().defaultRaw("'{read}'::text[]"),
  },
  uniques: [{ name: "service_token_digest_key", properties: ["digest"] }],
});

export const Person = defineEntity({
  name: "Person",
  tableName: "person",
  schema: "auth",
  properties: {
    id: p.uuid().primary(),
    email: p.text(),
    emailVerified: p.boolean().default(false),
    name: p.text(),
    image: p.text().nullable(),
    accountId: p.manyToOne(Account).mapToPk().fieldName("account_id").deleteRule("no action").nullable(),
    isOperator: p.boolean().default(false),
    createdAt: now(),
    updatedAt: now(),
    twoFactorEnabled: p.boolean().default(false),
  },
  uniques: [
    { name: "person_email_key", properties: ["email"] },
    { name: "person_account_id_key", properties: ["accountId"] },
  ],
});

export const AccountMember = defineEntity({
  name: "AccountMember",
  tableName: "account_member",
  properties: {
    accountId: p
      .manyToOne(Account)
      .mapToPk()
      .fieldName("account_id")
      .updateRule("no action")
      .deleteRule("no action")
      .primary(),
    personId: p
      .manyToOne(Person)
      .mapToPk()
      .fieldName("person_id")
      .updateRule("no action")
      .deleteRule("cascade")
      .primary(),
    role: p.text(),
    createdAt: now(),
  },
  indexes: [{ name: "account_member_person", properties: ["personId"] }],
});

export const AccountInvite = defineEntity({
  name: "AccountInvite",
  tableName: "account_invite",
  properties: {
    id: p.uuid().primary(),
    accountId: p.manyToOne(Account).mapToPk().fieldName("account_id").deleteRule("no action"),
    digest: p.blob(),
    email: p.text(),
    role: p.text(),
    invitedBy: p.uuid(),
    createdAt: now(),
    expiresAt: moment(),
    acceptedAt: moment().nullable(),
    revokedAt: moment().nullable(),
  },
  uniques: [{ name: "account_invite_digest_key", properties: ["digest"] }],
  indexes: [{ name: "account_invite_account", properties: ["accountId", "id"] }],
});

export const AccountActivity = defineEntity({
  name: "AccountActivity",
  tableName: "account_activity",
  properties: {
    accountId: p
      .manyToOne(Account)
      .mapToPk()
      .fieldName("account_id")
      .updateRule("no action")
      .deleteRule("no action")
      .primary(),
    id: p.uuid().primary(),
    doneAt: now(),
    personId: p.uuid().nullable(),
    actor: p.text(),
    action: p.text(),
    subject: p.text().nullable(),
    facts: p.json<Record<string, string>>().defaultRaw("'{}'::jsonb"),
  },
});

export const Credential = defineEntity({
  name: "Credential",
  tableName: "credential",
  schema: "auth",
  properties: {
    id: p.uuid().primary(),
    userId: p.manyToOne(Person).mapToPk().fieldName("user_id").deleteRule("cascade"),
    accountId: p.text(),
    providerId: p.text(),
    accessToken: p.text().nullable(),
    refreshToken: p.text().nullable(),
    idToken: p.text().nullable(),
    accessTokenExpiresAt: moment().nullable(),
    refreshTokenExpiresAt: moment().nullable(),
    scope: p.text().nullable(),
    password: p.text().nullable(),
    createdAt: moment(),
    updatedAt: moment(),
  },
  uniques: [{ name: "credential_user_id_provider_id_key", properties: ["userId", "providerId"] }],
});

export const OperatorInvite = defineEntity({
  name: "OperatorInvite",
  tableName: "operator_invite",
  schema: "auth",
  properties: {
    id: p.uuid().primary(),
    digest: p.blob(),
    expiresAt: moment(),
    usedAt: moment().nullable(),
    createdAt: now(),
  },
  uniques: [{ name: "operator_invite_digest_key", properties: ["digest"] }],
});

export const Passkey = defineEntity({
  name: "Passkey",
  tableName: "passkey",
  schema: "auth",
  properties: {
    id: p.uuid().primary(),
    userId: p.manyToOne(Person).mapToPk().fieldName("user_id").deleteRule("cascade"),
    name: p.text().nullable(),
    publicKey: p.text(),
    credentialId: p.text(),
    counter: p.double(),
    deviceType: p.text(),
    backedUp: p.boolean(),
    transports: p.text().nullable(),
    aaguid: p.text().nullable(),
    createdAt: now(),
  },
  uniques: [{ name: "passkey_credential_id_key", properties: ["credentialId"] }],
  indexes: [{ name: "passkey_user", properties: ["userId"] }],
});

export const SecurityEvent = defineEntity({
  name: "SecurityEvent",
  tableName: "security_event",
  schema: "auth",
  properties: {
    id: p.uuid().primary(),
    kind: p.text(),
    outcome: p.text(),
    personId: p.uuid().nullable(),
    emailHash: p.text().nullable(),
    network: p.text().default(""),
    subject: p.text().default(""),
    detail: p.text().default(""),
    times: p.integer().default(1),
    writtenAt: now(),
  },
});

export const Session = defineEntity({
  name: "Session",
  tableName: "session",
  schema: "auth",
  properties: {
    id: p.uuid().primary(),
    tokenDigest: p.blob(),
    userId: p.manyToOne(Person).mapToPk().fieldName("user_id").deleteRule("cascade"),
    expiresAt: moment(),
    ipAddress: p.text().nullable(),
    userAgent: p.text().nullable(),
    createdAt: moment(),
    updatedAt: moment(),
    provedAt: moment().nullable(),
    factorProved: p.boolean().default(false),
    byDemo: p.boolean().default(false),
    seenAt: moment().nullable(),
    actsFor: p.uuid().nullable(),
  },
  uniques: [{ name: "session_token_digest_key", properties: ["tokenDigest"] }],
  indexes: [
    { name: "session_of_user", properties: ["userId"] },
    { name: "session_expiry", properties: ["expiresAt"] },
  ],
});

export const SigningSecret = defineEntity({
  name: "SigningSecret",
  tableName: "signing_secret",
  schema: "auth",
  properties: {
    theRow: p.boolean().primary().default(true),
    secret: p.text(),
  },
});

export const Throttle = defineEntity({
  name: "Throttle",
  tableName: "throttle",
  schema: "auth",
  properties: {
    bucket: p.text().primary(),
    bookedUntil: moment(),
  },
  indexes: [{ name: "throttle_booked", properties: ["bookedUntil"] }],
});

export const TwoFactor = defineEntity({
  name: "TwoFactor",
  tableName: "two_factor",
  schema: "auth",
  properties: {
    id: p.uuid().primary(),
    userId: p.manyToOne(Person).mapToPk().fieldName("user_id").deleteRule("cascade"),
    secret: p.text(),
    backupCodes: p.text(),
    verified: p.boolean().default(false),
    createdAt: now(),
  },
  uniques: [{ name: "two_factor_user_id_key", properties: ["userId"] }],
});

export const Verification = defineEntity({
  name: "Verification",
  tableName: "verification",
  schema: "auth",
  properties: {
    id: p.uuid().primary(),
    identifier: p.text(),
    value: p.text(),
    expiresAt: moment(),
    createdAt: moment(),
    updatedAt: moment(),
  },
  indexes: [
    { name: "verification_expiry", properties: ["expiresAt"] },
    { name: "verification_identifier", properties: ["identifier"] },
  ],
});
