// The alerts that were posted to the webhook, with the result of the last attempt.

import { timestampDate } from "@bufbuild/protobuf/wkt";
import { createConnectQueryKey, useInfiniteQuery, useMutation } from "@connectrpc/connect-query";
import { useQueryClient } from "@tanstack/react-query";
import { type AlertDelivery, AlertDeliveryState } from "#gen/saldo/billing/v1/alert_pb.ts";
import { AlertService } from "#gen/saldo/billing/v1/alert_service_pb.ts";
import { Badge, type Tone } from "../../components/badge.tsx";
import { Button } from "../../components/button.tsx";
import { Card } from "../../components/card.tsx";
import { useReasons } from "../../components/delivery-reasons.ts";
import { LoadMore } from "../../components/load-more.tsx";
import { useNotify } from "../../components/notices.tsx";
import { Empty, Failed, SkeletonLines, Stale } from "../../components/states.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { UNKNOWN, useFormats } from "../../i18n/format.ts";
import { useMessages } from "../../i18n/language.tsx";
import { useMay } from "../../layouts/role.ts";
import { Refused } from "../../components/refused.tsx";
import { ALERTS_MESSAGES } from "./alerts-messages.ts";

const PAGE_SIZE = 25;
const FOLLOWED_EVERY_MS = 10_000;

/** The newest first. */
export function AlertDeliveries() {
  const messages = useMessages(ALERTS_MESSAGES);
  const query = useInfiniteQuery(
    AlertService.method.listAlertDeliveries,
    { pageSize: PAGE_SIZE, pageToken: "" },
    {
      pageParamKey: "pageToken",
      getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined,
      refetchInterval: FOLLOWED_EVERY_MS,
    },
  );
  const { data, error, refetch, isFetchNextPageError } = query;
  const deliveries = data?.pages.flatMap((page) => page.deliveries);
  const resend = useResend();
  const columns = useColumns(resend);
  return (
    <Card title={messages.deliveries} flush>
      {error !== null && deliveries === undefined ? <Failed error={error} retry={() => void refetch()} /> : null}
      {error !== null && deliveries !== undefined && !isFetchNextPageError ? (
        <div className="px-4 pb-3">
          <Stale />
        </div>
      ) : null}
      {resend.error === null ? null : (
        <div className="px-4 pb-3">
          <Refused error={resend.error} />
        </div>
      )}
      {deliveries === undefined && error === null ? <SkeletonLines /> : null}
      {deliveries?.length === 0 ? <Empty title={messages.none}>{messages.noneAbout}</Empty> : null}
      {deliveries === undefined || deliveries.length === 0 ? null : (
        <Table label={messages.deliveries} columns={columns} rows={deliveries} keyOf={({ id }) => id} />
      )}
      <LoadMore pages={query} />
    </Card>
  );
}

type Resend = ReturnType<typeof useResend>;

function useResend() {
  const messages = useMessages(ALERTS_MESSAGES);
  const notify = useNotify();
  const queries = useQueryClient();
  return useMutation(AlertService.method.resendAlert, {
    onSuccess: () => {
      notify(messages.resent);
      void queries.invalidateQueries({
        queryKey: createConnectQueryKey({ schema: AlertService.method.listAlertDeliveries, cardinality: "infinite" }),
      });
    },
  });
}

function useColumns({ mutate, isPending }: Resend): readonly Column<AlertDelivery>[] {
  const messages = useMessages(ALERTS_MESSAGES);
  const formats = useFormats();
  const mayChange = useMay("change");
  const columns: readonly Column<AlertDelivery>[] = [
    {
      key: "when",
      head: messages.when,
      cell: ({ createdAt, type }) => (
        <>
          {createdAt === undefined ? UNKNOWN : formats.time(timestampDate(createdAt))}
          <code className="mt-1 block font-mono text-xs md:hidden">{type}</code>
        </>
      ),
    },
    {
      key: "event",
      head: messages.event,
      wide: true,
      cell: ({ type }) => <code className="font-mono text-xs">{type}</code>,
    },
    { key: "state", head: messages.state, cell: ({ state }) => <StateBadge state={state} /> },
    {
      key: "attempts",
      head: messages.attempts,
      right: true,
      wide: true,
      cell: ({ attempts }) => formats.count(attempts.length),
    },
    { key: "last", head: messages.last, wide: true, cell: (delivery) => <LastResult delivery={delivery} /> },
  ];
  if (!mayChange) return columns;
  const act: Column<AlertDelivery> = {
    key: "act",
    head: <span className="sr-only">{messages.resend}</span>,
    acts: true,
    cell: ({ id, type }) => (
      <Button busy={isPending} aria-label={messages.resendOf(type)} onClick={() => mutate({ deliveryId: id })}>
        {messages.resend}
      </Button>
    ),
  };
  return [...columns, act];
}

function LastResult({ delivery }: { readonly delivery: AlertDelivery }) {
  const messages = useMessages(ALERTS_MESSAGES);
  const { endOf, problemOf } = useReasons();
  const note = endOf(delivery);
  const last = delivery.attempts.at(-1);
  if (last === undefined) return note === "" ? UNKNOWN : note;
  const status = last.httpStatus === 0 ? messages.noAnswer : `HTTP ${last.httpStatus}`;
  return (
    <span className="break-words">
      {status}
      {last.problem === "" ? null : <span className="block text-xs text-muted">{problemOf(last)}</span>}
      {note === "" ? null : <span className="block text-xs text-muted">{note}</span>}
    </span>
  );
}

const SHOWN: Readonly<Record<number, { readonly word: "pending" | "delivered" | "failed"; readonly tone: Tone }>> = {
  [AlertDeliveryState.PENDING]: { word: "pending", tone: "warn" },
  [AlertDeliveryState.DELIVERED]: { word: "delivered", tone: "good" },
  [AlertDeliveryState.FAILED]: { word: "failed", tone: "bad" },
};

function StateBadge({ state }: { readonly state: AlertDeliveryState }) {
  const messages = useMessages(ALERTS_MESSAGES);
  const { word, tone } = SHOWN[state] ?? { word: "pending", tone: "neutral" };
  return <Badge tone={tone}>{messages[word]}</Badge>;
}
