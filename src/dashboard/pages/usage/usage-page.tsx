import { useQuery } from "@connectrpc/connect-query";
import { keepPreviousData } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { Wallet } from "lucide-react";
import { useMemo } from "react";
import { BillingService } from "#gen/saldo/billing/v1/billing_service_pb.ts";
import { useFormats } from "../../language/format.ts";
import { useWords } from "../../language/language.tsx";
import { useToday } from "../../language/today.ts";
import { LinkButton } from "../../parts/button.tsx";
import { Card } from "../../parts/card.tsx";
import { Page } from "../../parts/page.tsx";
import { Segments } from "../../parts/segments.tsx";
import { Failed } from "../../parts/states.tsx";
import { UsageChart } from "./usage-chart.tsx";
import { UsageCsv } from "./usage-csv.tsx";
import { UsageDays } from "./usage-days.tsx";
import { UsageFilters, useChangeSearch } from "./usage-filters.tsx";
import { UsageNothing, WAITING_MS } from "./usage-nothing.tsx";
import { UsageRequests } from "./usage-requests.tsx";
import { UsageSheet } from "./usage-sheet.tsx";
import { filterOf, rangeOf } from "./usage-search.ts";
import { UsageTotals } from "./usage-totals.tsx";
import { USAGE_WORDS } from "./usage-words.ts";

/** Where the money went: one filter, and from it the sums, the chart, both tables and the file. */
export function UsagePage() {
  const words = useWords(USAGE_WORDS);
  const formats = useFormats();
  const search = useSearch({ from: "/inside/usage" });
  const change = useChangeSearch();
  // The one day that everything on the page is reckoned from, also when midnight comes while it is open.
  const today = useToday();
  const range = rangeOf(search, today);
  const filter = useMemo(() => filterOf(search, today), [search, today]);
  const { data, error, refetch } = useQuery(
    BillingService.method.summarizeUsage,
    { filter },
    {
      placeholderData: keepPreviousData,
      refetchInterval: ({ state }) => (range.last >= today && state.data?.rows.length === 0 ? WAITING_MS : false),
    },
  );
  const tab = search.tab ?? "days";
  const failed =
    data === undefined && error !== null ? <Failed error={error} retry={() => void refetch()} /> : undefined;
  return (
    <Page
      title={words.title}
      about={`${formats.days(range.first, range.last)} · ${words.zone}`}
      actions={
        <>
          <UsageCsv range={range} filter={filter} />
          <LinkButton to="/billing" look="action" icon={<Wallet aria-hidden />}>
            {words.topUp}
          </LinkButton>
        </>
      }
    >
      <UsageFilters search={search} today={today} />
      {error === null || data === undefined ? null : (
        <p role="alert" className="rounded-lg bg-warn-soft px-4 py-2 text-warn">
          {words.stale}
        </p>
      )}
      <UsageTotals data={data} isFailed={failed !== undefined} />
      <UsageChart data={data} failed={failed} unit={search.unit ?? "rupiah"} range={range} />
      <Card
        flush
        title={words.details}
        aside={
          <Segments
            label={words.tabs}
            value={tab}
            choices={[
              { value: "days", label: words.byDay },
              { value: "requests", label: words.byRequest },
            ]}
            onChange={(value) => change({ tab: value === "days" ? undefined : value })}
          />
        }
      >
        {tab === "requests" ? (
          <UsageRequests filter={filter} nothing={<UsageNothing search={search} />} />
        ) : (
          (failed ?? <UsageDays rows={data?.rows} nothing={<UsageNothing search={search} />} />)
        )}
      </Card>
      <UsageSheet requestId={search.request} onClose={() => change({ request: undefined })} />
    </Page>
  );
}
