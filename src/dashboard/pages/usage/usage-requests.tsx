import { timestampDate } from "@bufbuild/protobuf/wkt";
import { useInfiniteQuery } from "@connectrpc/connect-query";
import type { ReactNode } from "react";
import { BillingService } from "#gen/saldo/billing/v1/billing_service_pb.ts";
import { UsageBasis, type UsageRecord } from "#gen/saldo/billing/v1/usage_pb.ts";
import { useFormats } from "../../language/format.ts";
import { useWords } from "../../language/language.tsx";
import { Badge } from "../../parts/badge.tsx";
import { LoadMore } from "../../parts/load-more.tsx";
import { ModelId } from "../../parts/model-id.tsx";
import { Failed, SkeletonLines } from "../../parts/states.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { toldBasis } from "./basis.ts";
import { useChangeSearch, useKeyNames } from "./usage-filters.tsx";
import { WAITING_MS } from "./usage-nothing.tsx";
import type { filterOf } from "./usage-search.ts";
import { USAGE_WORDS } from "./usage-words.ts";

const PAGE_SIZE = 50;

type UsageRequestsProps = {
  readonly filter: ReturnType<typeof filterOf>;
  /** Stands here when there are none. */
  readonly nothing: ReactNode;
};

/** Every request of the filter, the newest first. A row opens its sheet. */
export function UsageRequests({ filter, nothing }: UsageRequestsProps) {
  const words = useWords(USAGE_WORDS);
  const change = useChangeSearch();
  const columns = useRequestColumns();
  const pages = useInfiniteQuery(
    BillingService.method.listUsage,
    { filter, pageSize: PAGE_SIZE, pageToken: "" },
    {
      pageParamKey: "pageToken",
      getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined,
      refetchInterval: ({ state }) => (state.data?.pages[0]?.records.length === 0 ? WAITING_MS : false),
    },
  );
  const { data, error, refetch } = pages;
  const records = data?.pages.flatMap((page) => page.records);
  if (records === undefined)
    return error === null ? <SkeletonLines /> : <Failed error={error} retry={() => void refetch()} />;
  if (records.length === 0) return nothing;
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
      cell: ({ createdAt, model, basis }) => {
        const time = createdAt === undefined ? "" : formats.moment(timestampDate(createdAt));
        return (
          <>
            <span className="whitespace-nowrap text-muted max-md:hidden">{time}</span>
            <span className="flex flex-col items-start gap-0.5 md:hidden">
              <ModelId id={model} />
              <span className="text-xs text-muted">{time}</span>
              {isUsual(basis) ? null : <Basis basis={basis} />}
            </span>
          </>
        );
      },
    },
    { key: "model", head: words.model, wide: true, cell: ({ model }) => <ModelId id={model} /> },
    {
      key: "key",
      head: words.key,
      wide: true,
      cell: ({ keyId }) => {
        const name = keys.get(keyId) ?? keyId.slice(0, 8);
        return (
          <span className="block max-w-28 truncate" title={name}>
            {name}
          </span>
        );
      },
    },
    {
      key: "input",
      head: words.input,
      right: true,
      wide: true,
      cell: (record) => (
        <>
          {formats.count(record.inputTokensUncached + record.inputTokensCached)}
          {record.inputTokensCached === 0 ? null : (
            <span className="block text-xs whitespace-nowrap text-muted">
              {formats.count(record.inputTokensCached)} {words.ofCache}
            </span>
          )}
        </>
      ),
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
      key: "duration",
      head: words.duration,
      right: true,
      wide: true,
      cell: ({ durationMs }) => <span className="whitespace-nowrap text-muted">{formats.seconds(durationMs)}</span>,
    },
    { key: "basis", head: words.basis, wide: true, cell: ({ basis }) => <Basis basis={basis} /> },
  ];
}

function Basis({ basis }: { readonly basis: UsageBasis }) {
  const words = useWords(USAGE_WORDS);
  const { word, tone } = toldBasis(basis);
  return <Badge tone={tone}>{words[word]}</Badge>;
}

function isUsual(basis: UsageBasis): boolean {
  return basis === UsageBasis.EXACT || basis === UsageBasis.UNSPECIFIED;
}
