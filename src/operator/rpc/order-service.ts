import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { OrderService } from "#gen/saldo/operator/v1/order_service_pb.ts";
import { OrderState as ProtoState } from "#gen/saldo/operator/v1/order_pb.ts";
import { listOrders, type OrderState, type StoredOrder } from "../second-person/order-store.ts";
import { readPage } from "./paging.ts";
import { approveOrder, refuseOrder } from "../second-person/pending-orders.ts";
import { moment, orNull, type Parts } from "./proto-parts.ts";

const states = {
  pending: ProtoState.PENDING,
  approved: ProtoState.APPROVED,
  refused: ProtoState.REFUSED,
  expired: ProtoState.EXPIRED,
} as const satisfies Record<OrderState, ProtoState>;

/** OrderService: orders that need a second operator. */
export function createOrderService({
  database,
  operatorContext,
}: Pick<Parts, "database" | "operatorContext">): ServiceImpl<typeof OrderService> {
  return {
    async listOrders(request, context) {
      const { operator } = operatorContext(context);
      const state = (Object.keys(states) as OrderState[]).find((each) => states[each] === request.state) ?? null;
      const page = await readPage(
        request,
        (range) => listOrders(database.pool, { state, ...range }),
        ({ orderId }) => orderId,
      );
      return { orders: page.items.map((item) => toProtoOrder(item, operator)), nextPageToken: page.nextPageToken };
    },

    async approveOrder({ orderId, reason }, context) {
      const by = operatorContext(context);
      const { order, isNew } = await approveOrder(by, { orderId, reason: orNull(reason) });
      return { order: toProtoOrder(order, by.operator), isNew };
    },

    async refuseOrder({ orderId, reason }, context) {
      const by = operatorContext(context);
      const { order, isNew } = await refuseOrder(by, { orderId, reason });
      return { order: toProtoOrder(order, by.operator), isNew };
    },
  };
}

function toProtoOrder(order: StoredOrder, caller: string) {
  const { currencyCode = "", amount = "", ...facts } = order.facts;
  return {
    id: order.orderId,
    action: order.kind,
    subject: order.subject,
    currencyCode: String(currencyCode),
    amount: String(amount),
    facts: JSON.stringify(facts),
    reason: order.reason ?? "",
    orderedBy: order.orderedBy,
    orderedAt: timestampFromDate(order.orderedAt),
    expiresAt: timestampFromDate(order.expiresAt),
    state: states[order.state],
    decidedBy: order.decidedBy ?? "",
    ...moment("decidedAt", order.decidedAt),
    decisionReason: order.decisionReason ?? "",
    isOwn: order.orderedBy.toLowerCase() === caller.toLowerCase(),
  };
}
