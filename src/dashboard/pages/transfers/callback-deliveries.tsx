// The callbacks of a merchant's transfers, with every attempt.

import { timestampDate } from "@bufbuild/protobuf/wkt";
import { useInfiniteQuery } from "@connectrpc/connect-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { type CallbackDelivery, CallbackState } from "#gen/saldo/merchant/v1/callback_pb.ts";
import { CallbackService } from "#gen/saldo/merchant/v1/callback_service_pb.ts";
import { UNKNOWN, useFormats } from "../../i18n/format.ts";
import { useMessages } from "../../i18n/language.tsx";
import { Badge, type Tone } from "../../components/badge.tsx";
import { Card } from "../../components/card.tsx";
import { LoadMore } from "../../components/load-more.tsx";
import { Empty, Failed, SkeletonLines, Stale } from "../../components/states.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { CALLBACK_MESSAGES } from "./callback-messages.ts";
import { DeliverySheet } from "./delivery-sheet.tsx";
import { useMerchantHere } from "./merchant-here.tsx";
import { StatusBadge } from "./transfer-status.tsx";

const PAGE_SIZE = 25;
const FOLLOWED_EVERY_MS = 5_000;

/** The newest first; a row opens its attempts. */
export function CallbackDeliveries() {
  const messages = useMessages(CALLBACK_MESSAGES);
  const { merchantId, environment } = useMerchantHere();
  const navigate = useNavigate();
  const { delivery: openId } = useSearch({ from: "/inside/transfers/$environment/callbacks" });
  const open = (delivery?: string) =>
    void navigate({
      to: "/transfers/$environment/callbacks",
      params: { environment },
      search: delivery === undefined ? {} : { delivery },
      resetScroll: false,
    });
  const query = useInfiniteQuery(
    CallbackService.method.listCallbackDeliveries,
    { merchantId, pageSize: PAGE_SIZE, pageToken: "" },
    {
      pageParamKey: "pageToken",
      getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined,
      refetchInterval: FOLLOWED_EVERY_MS,
    },
  );
  const { data, error, refetch, isFetchNextPageError } = query;
  const deliveries = data?.pages.flatMap((page) => page.deliveries);
  const columns = useDeliveryColumns();
  return (
    <Card title={messages.deliveries} flush>
      {error !== null && deliveries === undefined ? <Failed error={error} retry={() => void refetch()} /> : null}
      {error !== null && deliveries !== undefined && !isFetchNextPageError ? (
        <div className="px-4 pb-3">
          <Stale />
        </div>
      ) : null}
      {deliveries === undefined && error === null ? <SkeletonLines /> : null}
      {deliveries?.length === 0 ? <Empty title={messages.none}>{messages.noneAbout}</Empty> : null}
      {deliveries === undefined || deliveries.length === 0 ? null : (
        <Table
          label={messages.deliveries}
          columns={columns}
          rows={deliveries}
          keyOf={({ id }) => id}
          onOpen={({ id }) => open(id)}
          openLabel={() => messages.open}
        />
      )}
      <LoadMore pages={query} />
      <DeliverySheet
        open={openId !== undefined && deliveries !== undefined}
        delivery={deliveries?.find(({ id }) => id === openId)}
        onClose={() => open()}
      >
        <LoadMore pages={query} />
      </DeliverySheet>
    </Card>
  );
}

function useDeliveryColumns(): readonly Column<CallbackDelivery>[] {
  const messages = useMessages(CALLBACK_MESSAGES);
  const formats = useFormats();
  return [
    {
      key: "when",
      head: messages.when,
      cell: ({ createdAt, status }) => (
        <>
          {createdAt === undefined ? UNKNOWN : formats.time(timestampDate(createdAt))}
          <span className="mt-1 block md:hidden">
            <StatusBadge status={status} />
          </span>
        </>
      ),
    },
    { key: "status", head: messages.transferStatus, wide: true, cell: ({ status }) => <StatusBadge status={status} /> },
    { key: "state", head: messages.state, cell: ({ state }) => <DeliveryBadge state={state} /> },
    {
      key: "attempts",
      head: messages.attempts,
      right: true,
      wide: true,
      cell: ({ attempts }) => formats.count(attempts.length),
    },
    {
      key: "next",
      head: messages.next,
      wide: true,
      cell: ({ nextAttemptAt }) => (nextAttemptAt === undefined ? UNKNOWN : formats.time(timestampDate(nextAttemptAt))),
    },
  ];
}

const SHOWN: Readonly<Record<number, { readonly word: "pending" | "delivered" | "failed"; readonly tone: Tone }>> = {
  [CallbackState.PENDING]: { word: "pending", tone: "warn" },
  [CallbackState.DELIVERED]: { word: "delivered", tone: "good" },
  [CallbackState.FAILED]: { word: "failed", tone: "bad" },
};

/** The state of a delivery, as a word with an icon. */
function DeliveryBadge({ state }: { readonly state: CallbackState }) {
  const messages = useMessages(CALLBACK_MESSAGES);
  const { word, tone } = SHOWN[state] ?? { word: "pending", tone: "neutral" };
  return <Badge tone={tone}>{messages[word]}</Badge>;
}
