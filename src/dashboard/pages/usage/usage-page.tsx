import { useQuery } from "@connectrpc/connect-query";
import { keepPreviousData } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { Wallet } from "lucide-react";
import { type ReactNode, useMemo, useState } from "react";
import { BillingService } from "#gen/saldo/billing/v1/billing_service_pb.ts";
import type { Day } from "../../i18n/days.ts";
import { useFormats } from "../../i18n/format.ts";
import { useMessages } from "../../i18n/language.tsx";
import { useToday } from "../../i18n/today.ts";
import { AsOf } from "../../components/as-of.tsx";
import { LinkButton } from "../../components/button.tsx";
import { Card } from "../../components/card.tsx";
import { Page } from "../../components/page.tsx";
import { Segments } from "../../components/segments.tsx";
import { Failed, Stale } from "../../components/states.tsx";
import { useChangeSearch } from "./change-search.ts";
import { TITLES, useGroupedSums } from "./grouped-sums.tsx";
import { UsageChart } from "./usage-chart.tsx";
import { UsageCsv } from "./usage-csv.tsx";
import { UsageDays } from "./usage-days.tsx";
import { UsageFilters } from "./usage-filters.tsx";
import { UsageNothing, WAITING_MS } from "./usage-nothing.tsx";
import { UsageRequests } from "./usage-requests.tsx";
import { UsageSheet } from "./usage-sheet.tsx";
import { filterOf, rangeOf, type UsageSearch } from "./usage-search.ts";
import { UsageTotals } from "./usage-totals.tsx";
import { USAGE_MESSAGES } from "./usage-messages.ts";

/** Usage by one filter: the sums, the chart, both tables and the file. */
export function UsagePage() {
  const messages = useMessages(USAGE_MESSAGES);
  const formats = useFormats();
  const search = useSearch({ from: "/inside/usage" });
  const change = useChangeSearch();
  // The one day that everything on the page counts from, also when midnight passes while it is open.
  const today = useToday();
  const range = rangeOf(search, today);
  const filter = useMemo(() => filterOf(search, today), [search, today]);
  const summary = useSummary(filter, range, today);
  const { first, last } = summary.range;
  return (
    <Page
      title={messages.title}
      about={`${formats.days(first, last)} · ${messages.zone}`}
      actions={
        <>
          <UsageCsv range={range} filter={filter} />
          <LinkButton to="/billing" variant="action" icon={<Wallet aria-hidden />}>
            {messages.topUp}
          </LinkButton>
        </>
      }
    >
      <UsageFilters search={search} today={today} />
      {summary.error === null || summary.data === undefined ? null : <Stale />}
      <AsOf asOf={summary.data?.asOf} readAtMs={summary.readAtMs} />
      <Summary summary={summary} search={search} filter={filter} />
      <Details summary={summary} search={search} filter={filter} />
      <UsageSheet requestId={search.request} onClose={() => change({ request: undefined })} />
    </Page>
  );
}

type UsageFilter = ReturnType<typeof filterOf>;
type Range = ReturnType<typeof rangeOf>;

/** The sums of a filter. Until they are loaded, those of the previous filter stay, with their range. */
function useSummary(filter: UsageFilter, range: Range, today: Day) {
  const { data, dataUpdatedAt, error, refetch, isPlaceholderData } = useQuery(
    BillingService.method.summarizeUsage,
    { filter },
    {
      placeholderData: keepPreviousData,
      refetchInterval: ({ state }) => (range.last >= today && state.data?.rows.length === 0 ? WAITING_MS : false),
    },
  );
  const [shown, setShown] = useState(range);
  if (!isPlaceholderData && (shown.first !== range.first || shown.last !== range.last)) setShown(range);
  return {
    data,
    readAtMs: dataUpdatedAt,
    error,
    range: isPlaceholderData ? shown : range,
    isOld: isPlaceholderData,
    /** Shown in place of data that failed to load. */
    failed: data === undefined && error !== null ? <Failed error={error} retry={() => void refetch()} /> : undefined,
  };
}

type Summed = ReturnType<typeof useSummary>;

function Summary({ summary, search, filter }: DetailsProps) {
  const { data, failed, range } = summary;
  return (
    <Aging isOld={summary.isOld}>
      <UsageTotals data={data} isFailed={failed !== undefined} />
      <UsageChart
        data={data}
        failed={failed}
        unit={search.unit ?? "rupiah"}
        by={search.by ?? "model"}
        filter={filter}
        range={range}
      />
    </Aging>
  );
}

/** Data of the previous filter is dimmed until the new data is loaded. */
function Aging({ isOld, children }: { readonly isOld: boolean; readonly children: ReactNode }) {
  return (
    <div aria-busy={isOld} className={`flex flex-col gap-4 ${isOld ? "opacity-60" : ""}`}>
      {children}
    </div>
  );
}

type DetailsProps = { readonly summary: Summed; readonly search: UsageSearch; readonly filter: UsageFilter };

function Details({ summary, search, filter }: DetailsProps) {
  const messages = useMessages(USAGE_MESSAGES);
  const change = useChangeSearch();
  const tab = search.tab ?? "days";
  const by = search.by ?? "model";
  const { data, failed } = useGroupedSums(summary, filter, by);
  const nothing = <UsageNothing search={search} />;
  return (
    <Card
      flush
      title={messages.details}
      aside={
        <Segments
          label={messages.tabs}
          value={tab}
          choices={[
            { value: "days", label: messages[TITLES[by]] },
            { value: "requests", label: messages.byRequest },
          ]}
          onChange={(value) => change({ tab: value === "days" ? undefined : value })}
        />
      }
    >
      {tab === "requests" ? (
        <UsageRequests filter={filter} order={search.order} nothing={nothing} />
      ) : (
        <Aging isOld={summary.isOld}>
          {failed ?? (
            <UsageDays
              by={by}
              rows={data?.rows}
              nothing={nothing}
              sort={{ order: search.sort, onOrder: (order) => change({ sort: order }) }}
            />
          )}
        </Aging>
      )}
    </Card>
  );
}
