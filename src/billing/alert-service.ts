// AlertService: translation between the contract and the use cases of alerts/.

import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { AlertDeliveryState } from "#gen/saldo/billing/v1/alert_pb.ts";
import type { AlertService } from "#gen/saldo/billing/v1/alert_service_pb.ts";
import type { CallbackSettings } from "../callbacks/callback-settings.ts";
import type { CallbackUrlRules } from "../callbacks/callback-url.ts";
import type { Delivery, DeliveryState } from "../callbacks/delivery-log.ts";
import type { AttemptFacts } from "../callbacks/delivery-store.ts";
import { toProtoEnd, toProtoProblem } from "../callbacks/proto-reasons.ts";
import type { Database } from "../database/database.ts";
import type { RecordChange } from "../database/record-change.ts";
import { formatMoney, idr } from "../kernel/money.ts";
import { listAlertDeliveries, readWebhook, resendAlert, setWebhook } from "./alerts/account-webhook.ts";
import { readAlertSettings, setAlertSettings } from "./alerts/alert-settings.ts";
import type { AlertSettings } from "./alerts/alert-store.ts";

export type AlertServiceDependencies = {
  readonly database: Database;
  /** The account a call acts for. */
  readonly accountOf: (context: HandlerContext) => string;
  /** Writes the line of a change in its transaction. */
  readonly recordChangeOf: (context: HandlerContext) => RecordChange;
  /** Which addresses may be posted to. */
  readonly rules: CallbackUrlRules;
};

/** Makes the service. Every method acts on the caller's own account. */
export function createAlertService({
  database,
  accountOf,
  recordChangeOf,
  rules,
}: AlertServiceDependencies): ServiceImpl<typeof AlertService> {
  const { pool } = database;
  return {
    async getAlertSettings(_request, context) {
      const accountId = accountOf(context);
      return {
        settings: toProtoSettings(await readAlertSettings(pool, accountId)),
        webhook: toProtoWebhook(await readWebhook(database, accountId)),
      };
    },

    async updateAlertSettings({ settings }, context) {
      const { dailySpend = "", percents = [], mailTypes = [], webhookTypes = [] } = settings ?? {};
      const written = { dailySpend, percents, mailTypes, webhookTypes };
      const set = await setAlertSettings(pool, accountOf(context), written, recordChangeOf(context));
      return { settings: toProtoSettings(set) };
    },

    async updateAlertWebhook({ url, renewSecret }, context) {
      const { settings, secret } = await setWebhook(database, {
        accountId: accountOf(context),
        url,
        renewSecret,
        rules,
      });
      return { webhook: toProtoWebhook(settings), secret };
    },

    async listAlertDeliveries({ pageSize, pageToken }, context) {
      const query = { accountId: accountOf(context), pageSize, pageToken };
      const { items, nextPageToken } = await listAlertDeliveries(database, query);
      return { deliveries: items.map(toProtoDelivery), nextPageToken };
    },

    async resendAlert({ deliveryId: eventId }, context) {
      return { delivery: toProtoDelivery(await resendAlert(database, { accountId: accountOf(context), eventId })) };
    },
  };
}

const protoState = {
  pending: AlertDeliveryState.PENDING,
  delivered: AlertDeliveryState.DELIVERED,
  failed: AlertDeliveryState.FAILED,
} as const satisfies Record<DeliveryState, AlertDeliveryState>;

function toProtoSettings({ dailySpend, percents, mailTypes, webhookTypes }: AlertSettings) {
  return {
    dailySpend: dailySpend === null ? "" : formatMoney(idr(dailySpend)),
    percents: [...percents],
    mailTypes: [...mailTypes],
    webhookTypes: [...webhookTypes],
  };
}

function toProtoWebhook({ url, secretLastFour, updatedAt, stoppedAt }: CallbackSettings) {
  return {
    url,
    secretLastFour,
    ...(updatedAt === null ? {} : { updatedAt: timestampFromDate(updatedAt) }),
    ...(stoppedAt === null ? {} : { stoppedAt: timestampFromDate(stoppedAt) }),
  };
}

function toProtoDelivery({ eventId, about, state, eventAt, nextAttemptAt, note, attempts }: Delivery) {
  return {
    id: eventId,
    type: about,
    state: protoState[state],
    createdAt: timestampFromDate(eventAt),
    ...(nextAttemptAt === null ? {} : { nextAttemptAt: timestampFromDate(nextAttemptAt) }),
    attempts: attempts.map(toProtoAttempt),
    note: note ?? "",
    end: toProtoEnd(note),
  };
}

function toProtoAttempt({ url, startedAt, durationMs, httpStatus, problem }: AttemptFacts) {
  return {
    startedAt: timestampFromDate(startedAt),
    httpStatus: httpStatus ?? 0,
    problem: problem ?? "",
    ...toProtoProblem(problem),
    durationMs,
    url,
  };
}
