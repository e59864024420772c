import { useQuery } from "@connectrpc/connect-query";
import { keepPreviousData } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { type MarginLine, MarginGroup, type ReportMarginResponse } from "#gen/saldo/operator/v1/operation_pb.ts";
import { OperatorService } from "#gen/saldo/operator/v1/operator_service_pb.ts";
import { patientTransport } from "../../../api/transport.ts";
import { daysLater, isDay } from "../../../i18n/days.ts";
import { useFormats } from "../../../i18n/format.ts";
import { useWords } from "../../../i18n/language.tsx";
import { useToday } from "../../../i18n/today.ts";
import { Card, Stat } from "../../../components/card.tsx";
import { Page } from "../../../components/page.tsx";
import { Segments } from "../../../components/segments.tsx";
import { Empty, SkeletonLines } from "../../../components/states.tsx";
import { type Column, Table } from "../../../components/table.tsx";
import { OPERATOR_WORDS } from "../operator-words.ts";
import { useChangeAddress } from "../components/address.ts";
import { DayFields } from "../components/day-fields.tsx";
import { Mono } from "../../../components/facts.tsx";
import { Filters } from "../components/filters.tsx";
import { NotLoaded } from "../components/rows.tsx";
import { MARGIN_WORDS } from "./margin-words.ts";

const DEFAULT_DAYS = 30;

/** The groups as the address has them. */
const GROUPS = {
  model: MarginGroup.MODEL,
  upstream: MarginGroup.UPSTREAM,
  account: MarginGroup.ACCOUNT,
} as const;
type Group = keyof typeof GROUPS;

/** What requests brought in and what they cost us. */
export function MarginPage() {
  const words = useWords(MARGIN_WORDS);
  const shared = useWords(OPERATOR_WORDS);
  const formats = useFormats();
  const change = useChangeAddress();
  const search = useSearch({ from: "/inside/operator/margin" });
  const by: Group = search.by === "upstream" || search.by === "account" ? search.by : "model";
  const today = useToday();
  const to = isDay(search.to) ? search.to : today;
  const from = isDay(search.from) ? search.from : daysLater(to, 1 - DEFAULT_DAYS);
  const query = useQuery(
    OperatorService.method.reportMargin,
    { from, to, by: GROUPS[by] },
    { transport: patientTransport, placeholderData: keepPreviousData, refetchOnWindowFocus: false },
  );
  const { data, error } = query;
  return (
    <Page
      title={words.title}
      about={`${formats.days(from, to)} · ${shared.zone}`}
      actions={
        <Segments
          label={words.by}
          value={by}
          choices={[
            { value: "model", label: words.model },
            { value: "upstream", label: words.upstream },
            { value: "account", label: words.account },
          ]}
          onChange={(next) => change({ by: next === "model" ? undefined : next })}
        />
      }
    >
      <Filters values={{ from: search.from, to: search.to }} defaults={{ from, to }}>
        <DayFields />
      </Filters>
      {error === null ? null : <NotLoaded query={query} />}
      {data === undefined && error === null ? <SkeletonLines lines={8} /> : null}
      {data === undefined || error !== null ? null : <Report data={data} by={by} />}
    </Page>
  );
}

function Report({ data, by }: { readonly data: ReportMarginResponse; readonly by: Group }) {
  const words = useWords(MARGIN_WORDS);
  const formats = useFormats();
  const columns = useColumns(by);
  const { total, lines } = data;
  return (
    <>
      {total === undefined ? null : <Totals total={total} />}
      {total === undefined || total.withoutCost === 0 ? null : (
        <p role="status" className="rounded-lg bg-warn-soft px-4 py-2 text-warn">
          {formats.count(total.withoutCost)} {words.withoutCostWarning}
        </p>
      )}
      <Card flush title={words.lines}>
        {lines.length === 0 ? (
          <Empty title={words.nothing}>{words.nothingAbout}</Empty>
        ) : (
          <Table label={words.lines} columns={columns} rows={lines} keyOf={({ key }) => key} />
        )}
      </Card>
    </>
  );
}

function Totals({ total }: { readonly total: MarginLine }) {
  const words = useWords(MARGIN_WORDS);
  const formats = useFormats();
  return (
    <div className="grid grid-cols-1 gap-3 sm:grid-cols-2 lg:grid-cols-3 xl:grid-cols-5">
      <Stat label={words.revenue} hint={`${words.credited} ${formats.cost(total.credited)}`}>
        {formats.cost(total.revenue)}
      </Stat>
      <Stat label={words.cost}>{formats.cost(total.upstreamCost)}</Stat>
      <Stat label={words.margin} hint={`${formats.count(total.requests)} ${words.requests.toLowerCase()}`}>
        {formats.cost(total.margin)}
      </Stat>
      <Stat label={words.uncollected} hint={words.uncollectedHint}>
        {formats.cost(total.uncollected)}
      </Stat>
      <Stat label={words.unbilled} hint={words.unbilledHint}>
        {formats.cost(total.unbilled)}
      </Stat>
    </div>
  );
}

function useColumns(by: Group): readonly Column<MarginLine>[] {
  const words = useWords(MARGIN_WORDS);
  const formats = useFormats();
  const money = (text: string) => <span className="whitespace-nowrap">{formats.cost(text)}</span>;
  return [
    {
      key: "key",
      head: words[by],
      cell: ({ key }) => (key === "" ? <span className="text-muted">{words.noUpstream}</span> : <Mono>{key}</Mono>),
    },
    {
      key: "requests",
      head: words.requests,
      right: true,
      wide: true,
      cell: ({ requests }) => formats.count(requests),
    },
    { key: "revenue", head: words.revenue, right: true, wide: true, cell: ({ revenue }) => money(revenue) },
    { key: "credited", head: words.credited, right: true, wide: true, cell: ({ credited }) => money(credited) },
    { key: "cost", head: words.cost, right: true, wide: true, cell: ({ upstreamCost }) => money(upstreamCost) },
    {
      key: "margin",
      head: words.margin,
      right: true,
      cell: ({ margin }) => (
        <strong className={`font-medium whitespace-nowrap ${margin.startsWith("-") ? "text-bad" : ""}`}>
          {formats.cost(margin)}
        </strong>
      ),
    },
    { key: "unbilled", head: words.unbilled, right: true, wide: true, cell: ({ unbilled }) => money(unbilled) },
    {
      key: "withoutCost",
      head: words.withoutCost,
      right: true,
      wide: true,
      cell: ({ withoutCost }) => formats.count(withoutCost),
    },
  ];
}
