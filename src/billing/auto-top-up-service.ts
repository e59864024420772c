// AutoTopUpService: translation between the contract and the use cases of auto-top-ups/.

import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type { AutoTopUpService } from "#gen/saldo/billing/v1/auto_top_up_service_pb.ts";
import type { Database } from "../database/database.ts";
import { formatMoney, idr, IDR, parseMoney } from "../kernel/money.ts";
import { readAutoTopUp, removeMethod, setAutoTopUp, type ShownAutoTopUp } from "./auto-top-ups/settings.ts";
import { toProtoTopUp } from "./proto-top-ups.ts";
import type { TopUps } from "./top-ups/top-ups.ts";

export type AutoTopUpServiceDependencies = {
  readonly database: Database;
  readonly topUps: Pick<TopUps, "create" | "canSaveMethods">;
  /** The account a call acts for. */
  readonly accountOf: (context: HandlerContext) => string;
};

/** Makes the service. Every method acts on the caller's own account. */
export function createAutoTopUpService({
  database,
  topUps,
  accountOf,
}: AutoTopUpServiceDependencies): ServiceImpl<typeof AutoTopUpService> {
  const toProto = ({ settings, pausedAt, method, charged }: ShownAutoTopUp) => ({
    autoTopUp: {
      ...(settings === null ? {} : { settings: toProtoSettings(settings) }),
      ...(method === null ? {} : { method: toProtoMethod(method) }),
      charged: formatMoney(idr(charged)),
      ...(pausedAt === null ? {} : { pausedAt: timestampFromDate(pausedAt) }),
      canSave: topUps.canSaveMethods,
    },
  });
  return {
    getAutoTopUp: async (_request, context) => toProto(await readAutoTopUp(database, accountOf(context))),

    async updateAutoTopUp({ settings }, context) {
      const { isOn = false, threshold = "", amount = "", monthlyCap = "" } = settings ?? {};
      return toProto(await setAutoTopUp(database, accountOf(context), { isOn, threshold, amount, monthlyCap }));
    },

    async savePaymentMethod({ amount, idempotencyKey }, context) {
      const order = { accountId: accountOf(context), amount: parseMoney(amount, IDR).units, idempotencyKey };
      return { topUp: toProtoTopUp(await topUps.create({ ...order, savesMethod: true })) };
    },

    async removePaymentMethod(_request, context) {
      await removeMethod(database, accountOf(context));
      return toProto(await readAutoTopUp(database, accountOf(context)));
    },
  };
}

function toProtoSettings({ isOn, threshold, amount, monthlyCap }: NonNullable<ShownAutoTopUp["settings"]>) {
  return {
    isOn,
    threshold: formatMoney(idr(threshold)),
    amount: formatMoney(idr(amount)),
    monthlyCap: formatMoney(idr(monthlyCap)),
  };
}

function toProtoMethod({ provider, label, createdAt }: NonNullable<ShownAutoTopUp["method"]>) {
  return { provider, label, createdAt: timestampFromDate(createdAt) };
}
