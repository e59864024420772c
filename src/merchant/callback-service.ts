// CallbackService: translation between the contract and the use cases.

import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { CallbackState } from "#gen/saldo/merchant/v1/callback_pb.ts";
import type { CallbackService } from "#gen/saldo/merchant/v1/callback_service_pb.ts";
import type { Database } from "../database/database.ts";
import type { CallbackSettings } from "../callbacks/callback-settings.ts";
import type { CallbackPlaces } from "../callbacks/callback-url.ts";
import type { Delivery, DeliveryState } from "../callbacks/delivery-log.ts";
import type { AttemptFacts } from "../callbacks/delivery-store.ts";
import { toProtoEnd, toProtoProblem } from "../callbacks/proto-reasons.ts";
import {
  getCallbackSettings,
  listDeliveries,
  resendCallback,
  updateCallbackSettings,
} from "./callbacks/callback-settings.ts";
import { requireMerchantOf } from "./merchants/store.ts";

export type CallbackServiceSources = CallbackPlaces & {
  readonly database: Pick<Database, "pool">;
  /** The account that a call acts for. */
  readonly accountOf: (context: HandlerContext) => string;
};

/** The service as Connect serves it. */
export function createCallbackService(sources: CallbackServiceSources): ServiceImpl<typeof CallbackService> {
  const { database, accountOf } = sources;
  const requireOwn = (context: HandlerContext, merchantId: string) =>
    requireMerchantOf(database.pool, { merchantId, accountId: accountOf(context) });
  return {
    async getCallbackSettings({ merchantId }, context) {
      await requireOwn(context, merchantId);
      return { settings: toProtoSettings(await getCallbackSettings(database, merchantId)) };
    },

    async updateCallbackSettings({ merchantId, url, token, renewSecret }, context) {
      await requireOwn(context, merchantId);
      const changed = await updateCallbackSettings(sources, { merchantId, url, token, renewSecret });
      return { ...changed, settings: toProtoSettings(changed.settings) };
    },

    async listCallbackDeliveries({ merchantId, ...query }, context) {
      await requireOwn(context, merchantId);
      const { items, nextPageToken } = await listDeliveries(database, { ...query, merchantId });
      const { url } = await getCallbackSettings(database, merchantId);
      return { deliveries: items.map((delivery) => toProtoDelivery(delivery, url)), nextPageToken };
    },

    async resendCallback({ merchantId, deliveryId: eventId }, context) {
      await requireOwn(context, merchantId);
      const delivery = await resendCallback(database, { merchantId, eventId });
      const { url } = await getCallbackSettings(database, merchantId);
      return { delivery: toProtoDelivery(delivery, url) };
    },
  };
}

const protoState = {
  pending: CallbackState.PENDING,
  delivered: CallbackState.DELIVERED,
  failed: CallbackState.FAILED,
} as const satisfies Record<DeliveryState, CallbackState>;

function toProtoSettings({ url, tokenLastFour, secretLastFour, updatedAt, stoppedAt }: CallbackSettings) {
  return {
    url,
    tokenLastFour,
    secretLastFour,
    ...(updatedAt === null ? {} : { updatedAt: timestampFromDate(updatedAt) }),
    ...(stoppedAt === null ? {} : { stoppedAt: timestampFromDate(stoppedAt) }),
  };
}

function toProtoDelivery(delivery: Delivery, settingsUrl: string) {
  const { eventId, subjectId, about, state, nextAttemptAt, eventAt, note, attempts } = delivery;
  return {
    id: eventId,
    eventId,
    transferId: subjectId,
    status: about,
    url: attempts.at(-1)?.url ?? settingsUrl,
    state: protoState[state],
    createdAt: timestampFromDate(eventAt),
    attempts: attempts.map(toProtoAttempt),
    note: note ?? "",
    end: toProtoEnd(note),
    ...(nextAttemptAt === null ? {} : { nextAttemptAt: timestampFromDate(nextAttemptAt) }),
  };
}

function toProtoAttempt({ startedAt, durationMs, httpStatus, problem }: AttemptFacts) {
  return {
    startedAt: timestampFromDate(startedAt),
    httpStatus: httpStatus ?? 0,
    problem: problem ?? "",
    ...toProtoProblem(problem),
    durationMs,
  };
}
