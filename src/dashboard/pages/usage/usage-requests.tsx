import { timestampDate } from "@bufbuild/protobuf/wkt";
import { useInfiniteQuery } from "@connectrpc/connect-query";
import { BillingService } from "#gen/saldo/billing/v1/billing_service_pb.ts";
import type { UsageRecord } from "#gen/saldo/billing/v1/usage_pb.ts";
import { useFormats } from "../../language/format.ts";
import { useWords } from "../../language/language.tsx";
import { Badge } from "../../parts/badge.tsx";
import { LoadMore } from "../../parts/load-more.tsx";
import { Empty, Failed, SkeletonLines } from "../../parts/states.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { toldBasis } from "./basis.ts";
import { useChangeSearch, useKeyNames } from "./usage-filters.tsx";
import type { filterOf } from "./usage-search.ts";
import { USAGE_WORDS } from "./usage-words.ts";

const PAGE_SIZE = 50;

/** Every request of the filter, the newest first. A row opens its sheet. */
export function UsageRequests({ filter }: { readonly filter: ReturnType<typeof filterOf> }) {
  const words = useWords(USAGE_WORDS);
  const change = useChangeSearch();
  const columns = useRequestColumns();
  const pages = useInfiniteQuery(
    BillingService.method.listUsage,
    { filter, pageSize: PAGE_SIZE, pageToken: "" },
    { pageParamKey: "pageToken", getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined },
  );
  const { data, error, refetch } = pages;
  const records = data?.pages.flatMap((page) => page.records);
  if (records === undefined)
    return error === null ? <SkeletonLines /> : <Failed error={error} retry={() => void refetch()} />;
  if (records.length === 0) return <Empty title={words.nothing} />;
  return (
    <>
      <Table
        label={words.byRequest}
        columns={columns}
        rows={records}
        keyOf={({ requestId }) => requestId}
        onOpen={({ requestId }) => change({ request: requestId })}
        openLabel={({ requestId }) => `${words.open} ${requestId}`}
      />
      <LoadMore pages={pages} />
    </>
  );
}

/** The columns of a list of requests; the overview shows the same. */
export function useRequestColumns(): readonly Column<UsageRecord>[] {
  const words = useWords(USAGE_WORDS);
  const formats = useFormats();
  const keys = useKeyNames();
  return [
    {
      key: "time",
      head: words.time,
      cell: ({ createdAt, model }) => (
        <>
          <span className="text-muted md:whitespace-nowrap">
            {createdAt === undefined ? "" : formats.time(timestampDate(createdAt))}
          </span>
          <span className="block font-mono text-[0.8125rem] break-all md:hidden">{model}</span>
        </>
      ),
    },
    {
      key: "model",
      head: words.model,
      wide: true,
      cell: ({ model }) => <span className="font-mono text-[0.8125rem] break-all">{model}</span>,
    },
    { key: "key", head: words.key, wide: true, cell: ({ keyId }) => keys.get(keyId) ?? keyId.slice(0, 8) },
    {
      key: "input",
      head: words.input,
      right: true,
      wide: true,
      cell: (record) => formats.count(record.inputTokensUncached + record.inputTokensCached),
    },
    {
      key: "cached",
      head: words.cached,
      right: true,
      wide: true,
      cell: (record) => <span className="text-muted">{formats.count(record.inputTokensCached)}</span>,
    },
    {
      key: "output",
      head: words.output,
      right: true,
      wide: true,
      cell: (record) => formats.count(record.outputTokens),
    },
    {
      key: "cost",
      head: words.cost,
      right: true,
      cell: ({ charge }) => <strong className="font-medium whitespace-nowrap">{formats.cost(charge)}</strong>,
    },
    {
      key: "latency",
      head: words.latency,
      right: true,
      wide: true,
      cell: ({ firstByteMs, durationMs }) => (
        <span className="whitespace-nowrap text-muted">
          {firstByteMs === undefined ? "" : `${formats.seconds(firstByteMs)} / `}
          {formats.seconds(durationMs)}
        </span>
      ),
    },
    {
      key: "basis",
      head: words.basis,
      cell: ({ basis }) => {
        const { word, tone } = toldBasis(basis);
        return <Badge tone={tone}>{words[word]}</Badge>;
      },
    },
  ];
}
