import { useInfiniteQuery } from "@connectrpc/connect-query";
import { useSearch } from "@tanstack/react-router";
import { OrderService } from "#gen/saldo/operator/v1/order_service_pb.ts";
import { OrderState, type PendingOrder } from "#gen/saldo/operator/v1/order_pb.ts";
import { UNKNOWN } from "../../../i18n/format.ts";
import { useMessages } from "../../../i18n/language.tsx";
import { Badge } from "../../../components/badge.tsx";
import { Card } from "../../../components/card.tsx";
import { Mono } from "../../../components/facts.tsx";
import { Page } from "../../../components/page.tsx";
import { Segments } from "../../../components/segments.tsx";
import { Empty } from "../../../components/states.tsx";
import type { Column } from "../../../components/table.tsx";
import { useChangeAddress } from "../components/address.ts";
import { useAssetAmount, useWhen } from "../components/amounts.ts";
import { RowSheet } from "../components/row-sheet.tsx";
import { Rows } from "../components/rows.tsx";
import { OrderSheet } from "./order-sheet.tsx";
import { ORDERS_MESSAGES } from "./orders-messages.ts";

const PAGE_SIZE = 50;
const ASK_AGAIN_MS = 20_000;

const STATES = {
  pending: OrderState.PENDING,
  approved: OrderState.APPROVED,
  refused: OrderState.REFUSED,
  expired: OrderState.EXPIRED,
} as const;
type StateName = keyof typeof STATES;
const NAMES = Object.keys(STATES) as StateName[];

/** Orders that wait for a second operator, and those that were decided. */
export function OrdersPage() {
  const messages = useMessages(ORDERS_MESSAGES);
  const change = useChangeAddress();
  const search = useSearch({ from: "/inside/operator/orders" });
  const chosen = NAMES.find((name) => name === search.state) ?? "pending";
  const query = useInfiniteQuery(
    OrderService.method.listOrders,
    { state: STATES[chosen], pageSize: PAGE_SIZE, pageToken: "" },
    {
      pageParamKey: "pageToken",
      getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined,
      refetchInterval: ASK_AGAIN_MS,
    },
  );
  const orders = query.data?.pages.flatMap((page) => page.orders);
  return (
    <Page title={messages.title} about={messages.about}>
      <Segments
        label={messages.state}
        value={chosen}
        choices={NAMES.map((value) => ({ value, label: messages[value] }))}
        onChange={(state) => change({ state, order: undefined })}
      />
      <Card flush>
        <Rows
          query={query}
          rows={orders}
          label={messages.list}
          columns={useColumns()}
          keyOf={({ id }) => id}
          onOpen={({ id }) => change({ order: id })}
          empty={<Empty title={messages.nothing}>{messages.nothingAbout}</Empty>}
        />
      </Card>
      <RowSheet
        query={query}
        open={search.order !== undefined}
        row={orders?.find(({ id }) => id === search.order)}
        title={messages.order}
        missing={{ title: messages.missing, about: messages.missingAbout }}
        onClose={() => change({ order: undefined })}
      >
        {(opened) => <OrderSheet order={opened} onDecided={() => change({ order: undefined })} />}
      </RowSheet>
    </Page>
  );
}

function useColumns(): readonly Column<PendingOrder>[] {
  const messages = useMessages(ORDERS_MESSAGES);
  const when = useWhen();
  const amountOf = useAssetAmount();
  return [
    {
      key: "action",
      head: messages.action,
      cell: ({ action, orderedBy, state }) => (
        <>
          <span className="flex flex-wrap items-center gap-1.5">
            <Mono>{action}</Mono>
            <StateBadge state={state} />
          </span>
          <span className="block text-xs break-all text-muted md:hidden">{orderedBy}</span>
        </>
      ),
    },
    {
      key: "amount",
      head: messages.amount,
      cell: ({ amount, currencyCode }) => (amount === "" ? UNKNOWN : amountOf(amount, currencyCode)),
    },
    {
      key: "by",
      head: messages.orderedBy,
      wide: true,
      cell: ({ orderedBy }) => <span className="break-all">{orderedBy}</span>,
    },
    { key: "at", head: messages.orderedAt, wide: true, cell: ({ orderedAt }) => when(orderedAt) },
    { key: "until", head: messages.expiresAt, wide: true, cell: ({ expiresAt }) => when(expiresAt) },
  ];
}

/** The state of an order. */
export function StateBadge({ state }: { readonly state: OrderState }) {
  const messages = useMessages(ORDERS_MESSAGES);
  const name = NAMES.find((each) => STATES[each] === state);
  if (name === undefined) return null;
  const tones = { pending: "warn", approved: "good", refused: "bad", expired: undefined } as const;
  const tone = tones[name];
  return <Badge {...(tone === undefined ? {} : { tone })}>{messages[name]}</Badge>;
}
