import { useQuery } from "@connectrpc/connect-query";
import { keepPreviousData } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { Wallet } from "lucide-react";
import { useMemo } from "react";
import { BillingService } from "#gen/saldo/billing/v1/billing_service_pb.ts";
import type { SummarizeUsageResponse } from "#gen/saldo/billing/v1/billing_service_pb.ts";
import { useFormats } from "../../language/format.ts";
import { useWords } from "../../language/language.tsx";
import { LinkButton } from "../../parts/button.tsx";
import { Card, Stat } from "../../parts/card.tsx";
import { Page } from "../../parts/page.tsx";
import { Segments } from "../../parts/segments.tsx";
import { Empty, Failed, Skeleton } from "../../parts/states.tsx";
import { UsageChart } from "./usage-chart.tsx";
import { UsageCsv } from "./usage-csv.tsx";
import { UsageDays } from "./usage-days.tsx";
import { UsageFilters, useChangeSearch } from "./usage-filters.tsx";
import { UsageRequests } from "./usage-requests.tsx";
import { UsageSheet } from "./usage-sheet.tsx";
import { filterOf, rangeOf, type UsageSearch } from "./usage-search.ts";
import { USAGE_WORDS } from "./usage-words.ts";

/** Where the money went: one filter, and from it the sums, the chart, both tables and the file. */
export function UsagePage() {
  const words = useWords(USAGE_WORDS);
  const formats = useFormats();
  const search = useSearch({ from: "/inside/usage" });
  const change = useChangeSearch();
  const filter = useMemo(() => filterOf(search, new Date()), [search]);
  const { data, error, refetch } = useQuery(
    BillingService.method.summarizeUsage,
    { filter },
    { placeholderData: keepPreviousData },
  );
  const { first, last } = rangeOf(search, new Date());
  const tab = search.tab ?? "days";
  return (
    <Page
      title={words.title}
      about={`${formats.day(first)} – ${formats.day(last)} · ${words.zone}`}
      actions={
        <>
          <UsageCsv search={search} />
          <LinkButton to="/billing" look="action" icon={<Wallet aria-hidden />}>
            {words.topUp}
          </LinkButton>
        </>
      }
    >
      <UsageFilters search={search} models={[...new Set(data?.rows.map((row) => row.model))].toSorted()} />
      {error === null ? null : data === undefined ? (
        <Failed error={error} retry={() => void refetch()} />
      ) : (
        <p role="alert" className="rounded-lg bg-warn-soft px-4 py-2 text-warn">
          {words.stale}
        </p>
      )}
      <Totals data={data} />
      <UsageChart data={data} search={search} />
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
        {data !== undefined && data.rows.length === 0 ? (
          <Nothing />
        ) : (
          <Rows data={data} search={search} filter={filter} />
        )}
      </Card>
      <UsageSheet requestId={search.request} onClose={() => change({ request: undefined })} />
    </Page>
  );
}

type RowsProps = {
  readonly data: SummarizeUsageResponse | undefined;
  readonly search: UsageSearch;
  readonly filter: ReturnType<typeof filterOf>;
};

function Rows({ data, search, filter }: RowsProps) {
  return search.tab === "requests" ? <UsageRequests filter={filter} /> : <UsageDays rows={data?.rows} />;
}

function Nothing() {
  const words = useWords(USAGE_WORDS);
  return (
    <Empty title={words.nothing} action={<LinkButton to="/keys">{words.makeKey}</LinkButton>}>
      {words.nothingAbout}
    </Empty>
  );
}

function Totals({ data }: { readonly data: SummarizeUsageResponse | undefined }) {
  const words = useWords(USAGE_WORDS);
  const formats = useFormats();
  const totals = data?.totals;
  const input = totals === undefined ? 0n : totals.inputTokensUncached + totals.inputTokensCached;
  const share = totals === undefined || input === 0n ? null : Number(totals.inputTokensCached) / Number(input);
  const wait = <Skeleton className="h-8 w-28" />;
  return (
    <div className="grid grid-cols-2 gap-3 lg:grid-cols-4">
      <Stat label={words.cost}>
        {totals === undefined ? wait : <span data-testid="total-cost">{formats.cost(totals.charge)}</span>}
      </Stat>
      <Stat label={words.requests}>
        {totals === undefined ? wait : <span data-testid="total-requests">{formats.count(totals.requests)}</span>}
      </Stat>
      <Stat label={words.tokens}>{totals === undefined ? wait : formats.compact(input + totals.outputTokens)}</Stat>
      <Stat
        label={words.fromCache}
        hint={totals === undefined ? undefined : `${words.saved} ${formats.cost(totals.savedByCache)}`}
      >
        {totals === undefined ? wait : share === null ? "—" : formats.percent(share)}
      </Stat>
    </div>
  );
}
