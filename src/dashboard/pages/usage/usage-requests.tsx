import { useInfiniteQuery } from "@connectrpc/connect-query";
import type { ReactNode } from "react";
import { BillingService } from "#gen/saldo/billing/v1/billing_service_pb.ts";
import { factsOf } from "../../api/transport.ts";
import { useMessages } from "../../i18n/language.tsx";
import { Button } from "../../components/button.tsx";
import { LoadMore } from "../../components/load-more.tsx";
import { orderBy } from "../../components/order.ts";
import { Empty, Failed, SkeletonLines, Stale } from "../../components/states.tsx";
import { Table } from "../../components/table.tsx";
import { useChangeSearch } from "./change-search.ts";
import { useRequestColumns } from "./request-columns.tsx";
import { WAITING_MS } from "./usage-nothing.tsx";
import type { filterOf } from "./usage-search.ts";
import { USAGE_MESSAGES } from "./usage-messages.ts";

const PAGE_SIZE = 50;

type UsageRequestsProps = {
  readonly filter: ReturnType<typeof filterOf>;
  readonly order: string | undefined;
  /** Shown when there are none. */
  readonly nothing: ReactNode;
};

/** Whether the list is too long to be sorted. */
function isTooLong(error: unknown): boolean {
  return factsOf(error)?.details.some(({ rule }) => rule === "order_by.too_many") ?? false;
}

/** Every request of the filter, the newest first, or in the order of a column over all pages. A row opens its sheet. */
export function UsageRequests({ filter, order, nothing }: UsageRequestsProps) {
  const messages = useMessages(USAGE_MESSAGES);
  const change = useChangeSearch();
  const columns = useRequestColumns();
  const sort = { order, onOrder: (next: string | undefined) => change({ order: next }) };
  const pages = useInfiniteQuery(
    BillingService.method.listUsage,
    { filter, pageSize: PAGE_SIZE, pageToken: "", orderBy: orderBy(order, columns) },
    {
      pageParamKey: "pageToken",
      getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined,
      refetchInterval: ({ state }) => (state.data?.pages[0]?.records.length === 0 ? WAITING_MS : false),
    },
  );
  const { data, error, refetch, isFetchNextPageError } = pages;
  const records = data?.pages.flatMap((page) => page.records);
  if (records === undefined) {
    if (error === null) return <SkeletonLines />;
    return isTooLong(error) ? (
      <Empty
        title={messages.tooManyToSort}
        action={<Button onClick={() => change({ order: undefined })}>{messages.newestFirst}</Button>}
      >
        {messages.tooManyToSortAbout}
      </Empty>
    ) : (
      <Failed error={error} retry={() => void refetch()} />
    );
  }
  if (records.length === 0) return nothing;
  return (
    <>
      {error === null || isFetchNextPageError ? null : (
        <div className="px-4 pb-3">
          <Stale />
        </div>
      )}
      <Table
        label={messages.byRequest}
        columns={columns}
        sort={sort}
        rows={records}
        keyOf={({ requestId }) => requestId}
        onOpen={({ requestId }) => change({ request: requestId })}
        openLabel={({ requestId }) => `${messages.open} ${requestId}`}
      />
      <LoadMore pages={pages} />
    </>
  );
}
