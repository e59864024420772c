// The top-up methods of BillingService: translation between the contract and top-ups/.

import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type { BillingService } from "#gen/saldo/billing/v1/billing_service_pb.ts";
import { TopUpState as ProtoState } from "#gen/saldo/billing/v1/top_up_pb.ts";
import { formatMoney, idr, IDR, parseMoney } from "../kernel/money.ts";
import { paidAmountOf, type TopUp, type TopUpState } from "./top-ups/top-up.ts";
import type { TopUps } from "./top-ups/top-ups.ts";

/** The states in the words of the contract. */
export const protoState = {
  created: ProtoState.CREATED,
  pending: ProtoState.PENDING,
  review: ProtoState.REVIEW,
  expired: ProtoState.EXPIRED,
  failed: ProtoState.FAILED,
  canceled: ProtoState.CANCELED,
  paid: ProtoState.PAID,
  partially_refunded: ProtoState.PARTIALLY_REFUNDED,
  refunded: ProtoState.REFUNDED,
  charged_back: ProtoState.CHARGED_BACK,
} as const satisfies Record<TopUpState, ProtoState>;

/** The states in which the payment page is returned: the payer can still pay. */
const PAYABLE: ReadonlySet<TopUpState> = new Set(["created", "pending"]);

type TopUpMethods = "createTopUp" | "getTopUp" | "watchTopUp" | "listTopUps";

/** Makes the methods. Each acts on the caller's account; a top-up of another account is not found. */
export function createTopUpMethods({
  topUps,
  accountOf,
}: {
  topUps: TopUps;
  /** The account a call acts for. */
  accountOf: (context: HandlerContext) => string;
}): Pick<ServiceImpl<typeof BillingService>, TopUpMethods> {
  return {
    async createTopUp({ amount, idempotencyKey }, context) {
      const accountId = accountOf(context);
      // The contract's own rule has checked that this is a number of rupiah.
      const topUp = await topUps.create({ accountId, amount: parseMoney(amount, IDR).units, idempotencyKey });
      return { topUp: toProtoTopUp(topUp) };
    },

    async getTopUp({ topUpId }, context) {
      return { topUp: toProtoTopUp(await topUps.get({ accountId: accountOf(context), topUpId })) };
    },

    async *watchTopUp({ topUpId }, context) {
      const asked = { accountId: accountOf(context), topUpId };
      for await (const topUp of topUps.watch(asked, context.signal)) yield { topUp: toProtoTopUp(topUp) };
    },

    async listTopUps({ pageSize, pageToken }, context) {
      const { items, nextPageToken } = await topUps.list({ accountId: accountOf(context), pageSize, pageToken });
      return { topUps: items.map(toProtoTopUp), nextPageToken };
    },
  };
}

/** A top-up as its customer sees it. */
export function toProtoTopUp(topUp: TopUp) {
  const { topUpId, amount, state, paymentUrl, createdAt, expiresAt, paidAt, provider, givenBack, owed } = topUp;
  return {
    id: topUpId,
    amount: formatMoney(idr(amount)),
    state: protoState[state],
    paymentUrl: PAYABLE.has(state) ? (paymentUrl ?? "") : "",
    createdAt: timestampFromDate(createdAt),
    expiresAt: timestampFromDate(expiresAt),
    ...(paidAt === null ? {} : { paidAt: timestampFromDate(paidAt) }),
    provider,
    givenBack: formatMoney(idr(givenBack + topUp.taxGivenBack)),
    owed: formatMoney(idr(owed)),
    tax: formatMoney(idr(topUp.tax)),
    total: formatMoney(idr(paidAmountOf(topUp))),
    receiptId: topUp.receipt?.receiptId ?? "",
    receiptNumber: topUp.receipt?.number ?? "",
    automatic: topUp.methodId !== null,
  };
}
