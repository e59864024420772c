import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { PaymentFinding } from "#gen/saldo/operator/v1/top_up_pb.ts";
import type { TopUpService } from "#gen/saldo/operator/v1/top_up_service_pb.ts";
import { protoState, toProtoTopUp } from "../../billing/proto-top-ups.ts";
import { troubleOf } from "../../billing/top-ups/disputes.ts";
import {
  findSortedTopUps,
  findTopUps,
  placeOfTopUp,
  readEvents,
  TOP_UP_ORDERS,
} from "../../billing/top-ups/find-top-ups.ts";
import { type PaymentEvent, selectTopUps } from "../../billing/top-ups/store.ts";
import { type TopUp, TOP_UP_STATES } from "../../billing/top-ups/top-up.ts";
import { NotFound } from "../../kernel/errors.ts";
import { readOrder, readOrderedPage } from "../../kernel/list-order.ts";
import { readPage } from "../../kernel/paging.ts";
import { orNull, type Parts } from "./proto-parts.ts";
import { verifyTopUp } from "../commands/top-ups.ts";

/** The most notifications that are shown with a top-up. */
const MAX_EVENTS = 100;

const protoFinding = {
  as_ordered: PaymentFinding.AS_ORDERED,
  unknown_order: PaymentFinding.UNKNOWN_ORDER,
  other_provider: PaymentFinding.OTHER_PROVIDER,
  other_amount: PaymentFinding.OTHER_AMOUNT,
} as const satisfies Record<PaymentEvent["finding"], PaymentFinding>;

/** TopUpService: top-ups of all accounts. */
export function createTopUpService({
  database,
  operatorContext,
  verifyNow,
}: Pick<Parts, "database" | "operatorContext" | "verifyNow">): ServiceImpl<typeof TopUpService> {
  const { pool } = database;
  return {
    async listTopUps(request) {
      const filter = {
        accountId: orNull(request.accountId),
        provider: orNull(request.provider),
        state: TOP_UP_STATES.find((state) => protoState[state] === request.state) ?? null,
        needsAttention: request.onlyProblems,
      };
      const order = readOrder(request.orderBy, TOP_UP_ORDERS);
      const page =
        order === null
          ? await readPage(
              request,
              (range) => findTopUps(pool, { filter, ...range }),
              ({ topUpId }) => topUpId,
            )
          : await readOrderedPage(request, order, {
              read: (place, limit) => findSortedTopUps(pool, { filter, order, place, limit }),
              placeOf: (topUp) => placeOfTopUp(order, topUp),
            });
      return { topUps: page.items.map(toProtoAccountTopUp), nextPageToken: page.nextPageToken };
    },

    async getTopUp({ topUpId }) {
      const [[topUp], events] = await Promise.all([
        selectTopUps(pool, [topUpId]),
        readEvents(pool, topUpId, MAX_EVENTS),
      ]);
      return {
        topUp: toProtoAccountTopUp(requireFound(topUp)),
        events: events.map(({ eventId, eventKey, status, amount, finding, receivedAt }) => ({
          id: eventId,
          eventKey,
          status,
          amount,
          finding: protoFinding[finding],
          receivedAt: timestampFromDate(receivedAt),
        })),
      };
    },

    async verifyTopUp({ topUpId, reason }, context) {
      const command = { topUpId, reason: orNull(reason) };
      return { topUp: toProtoAccountTopUp(await verifyTopUp(operatorContext(context), verifyNow, command)) };
    },
  };
}

function requireFound(topUp: TopUp | undefined): TopUp {
  if (topUp === undefined) throw new NotFound("There is no such top-up.");
  return topUp;
}

function toProtoAccountTopUp(topUp: TopUp) {
  const { accountId, providerReference, changedAt } = topUp;
  return {
    topUp: toProtoTopUp(topUp),
    accountId,
    providerReference: providerReference ?? "",
    problem: troubleOf(topUp) ?? "",
    changedAt: timestampFromDate(changedAt),
  };
}
