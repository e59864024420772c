// What operators set, order and did; and the state of the database itself.

import { defineEntity, p } from "@mikro-orm/core";
import { coinAmounts, moment, moments, now } from "./column-types.ts";

export const OperatorAction = defineEntity({
  name: "OperatorAction",
  tableName: "operator_action",
  properties: {
    id: p.uuid().primary(),
    operator: p.text(),
    action: p.text(),
    subject: p.text().nullable(),
    reason: p.text().nullable(),
    facts: p.json<Record<string, string | number | null>>().defaultRaw("'{}'::jsonb"),
    doneAt: now(),
  },
  indexes: [
    { name: "operator_action_operator", properties: ["operator", "id"] },
    { name: "operator_action_subject", properties: ["subject", "id"] },
  ],
});

export const OperatorOrder = defineEntity({
  name: "OperatorOrder",
  tableName: "operator_order",
  properties: {
    id: p.uuid().primary(),
    kind: p.text(),
    reference: p.text(),
    subject: p.text(),
    facts: p.json(),
    payload: p.json(),
    reason: p.text().nullable(),
    orderedBy: p.text(),
    orderedAt: now(),
    expiresAt: moment(),
    state: p.text().default("pending"),
    decidedBy: p.text().nullable(),
    decidedAt: moment().nullable(),
    decisionReason: p.text().nullable(),
  },
  uniques: [{ name: "operator_order_reference", properties: ["kind", "reference"] }],
});

export const OperatorSetting = defineEntity({
  name: "OperatorSetting",
  tableName: "operator_setting",
  properties: {
    name: p.text().primary(),
    version: p.integer().primary(),
    value: p.text(),
    setAt: now(),
  },
});

export const OrderedAlone = defineEntity({
  name: "OrderedAlone",
  tableName: "ordered_alone",
  properties: {
    operator: p.text().primary(),
    currencyCode: p.text().primary(),
    minutes: moments().defaultRaw("'{}'::timestamp with time zone[]"),
    amounts: coinAmounts().defaultRaw("'{}'::numeric[]"),
  },
});

export const DatabasePurpose = defineEntity({
  name: "DatabasePurpose",
  tableName: "database_purpose",
  properties: {
    theRow: p.boolean().primary().default(true),
    purpose: p.text(),
    since: now(),
    demoCredentials: p.text().nullable(),
    deployment: p.uuid().nullable(),
    cell: p.text().nullable(),
  },
});

export const SecretState = defineEntity({
  name: "SecretState",
  tableName: "secret_state",
  properties: {
    theRow: p.boolean().primary().default(true),
    form: p.text(),
    keyCheck: p.text().nullable(),
  },
});

export const SchemaChange = defineEntity({
  name: "SchemaChange",
  tableName: "schema_change",
  properties: {
    number: p.integer().primary().autoincrement(false),
    name: p.text(),
    oldestCode: p.integer(),
    appliedAt: now(),
  },
});

export const SchemaFunction = defineEntity({
  name: "SchemaFunction",
  tableName: "schema_function",
  properties: {
    name: p.text().primary(),
    hash: p.text(),
    appliedAt: now(),
  },
});
