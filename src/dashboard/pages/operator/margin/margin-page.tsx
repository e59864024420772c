import { useQuery } from "@connectrpc/connect-query";
import { keepPreviousData } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { type MarginLine, MarginGroup, type ReportMarginResponse } from "#gen/saldo/operator/v1/margin_pb.ts";
import { LedgerService } from "#gen/saldo/operator/v1/ledger_service_pb.ts";
import { patientTransport } from "../../../api/transport.ts";
import { daysLater, isDay } from "../../../i18n/days.ts";
import { unitsOf } from "../../../i18n/decimal.ts";
import { useFormats } from "../../../i18n/format.ts";
import { useMessages } from "../../../i18n/language.tsx";
import { useToday } from "../../../i18n/today.ts";
import { AsOf } from "../../../components/as-of.tsx";
import { Card, Stat } from "../../../components/card.tsx";
import { Page } from "../../../components/page.tsx";
import { Segments } from "../../../components/segments.tsx";
import { Empty, SkeletonLines } from "../../../components/states.tsx";
import { inOrder } from "../../../components/order.ts";
import { type Column, type Sort, Table } from "../../../components/table.tsx";
import { OPERATOR_MESSAGES } from "../operator-messages.ts";
import { useChangeAddress } from "../components/address.ts";
import { AccountName } from "../components/account-name.tsx";
import { DayFields } from "../components/day-fields.tsx";
import { Mono } from "../../../components/facts.tsx";
import { Filters } from "../components/filters.tsx";
import { NotLoaded } from "../components/rows.tsx";
import { MARGIN_MESSAGES } from "./margin-messages.ts";

const DEFAULT_DAYS = 30;

/** The groupings by their names in the address. */
const GROUPS = {
  model: MarginGroup.MODEL,
  upstream: MarginGroup.UPSTREAM,
  account: MarginGroup.ACCOUNT,
} as const;
type Group = keyof typeof GROUPS;

/** The revenue of requests and their cost at the upstreams. */
export function MarginPage() {
  const messages = useMessages(MARGIN_MESSAGES);
  const shared = useMessages(OPERATOR_MESSAGES);
  const formats = useFormats();
  const change = useChangeAddress();
  const search = useSearch({ from: "/inside/operator/margin" });
  const by: Group = search.by === "upstream" || search.by === "account" ? search.by : "model";
  const today = useToday();
  const to = isDay(search.to) ? search.to : today;
  const from = isDay(search.from) ? search.from : daysLater(to, 1 - DEFAULT_DAYS);
  const query = useQuery(
    LedgerService.method.reportMargin,
    { from, to, by: GROUPS[by] },
    { transport: patientTransport, placeholderData: keepPreviousData, refetchOnWindowFocus: false },
  );
  const { data, error } = query;
  return (
    <Page
      title={messages.title}
      about={`${formats.days(from, to)} · ${shared.zone}`}
      actions={
        <Segments
          label={messages.by}
          value={by}
          choices={[
            { value: "model", label: messages.model },
            { value: "upstream", label: messages.upstream },
            { value: "account", label: messages.account },
          ]}
          onChange={(next) => change({ by: next === "model" ? undefined : next })}
        />
      }
    >
      <Filters values={{ from: search.from, to: search.to }} defaults={{ from, to }}>
        <DayFields />
      </Filters>
      {error === null ? null : <NotLoaded query={query} />}
      <AsOf asOf={data?.asOf} readAtMs={query.dataUpdatedAt} />
      {data === undefined && error === null ? <SkeletonLines lines={8} /> : null}
      {data === undefined || error !== null ? null : (
        <Report data={data} by={by} sort={{ order: search.sort, onOrder: (order) => change({ sort: order }) }} />
      )}
    </Page>
  );
}

type ReportProps = { readonly data: ReportMarginResponse; readonly by: Group; readonly sort: Sort };

function Report({ data, by, sort }: ReportProps) {
  const messages = useMessages(MARGIN_MESSAGES);
  const formats = useFormats();
  const columns = useColumns(by);
  const { total, lines } = data;
  return (
    <>
      {total === undefined ? null : <Totals total={total} />}
      {total === undefined || total.withoutCost === 0 ? null : (
        <p role="status" className="rounded-lg bg-warn-soft px-4 py-2 text-warn">
          {formats.count(total.withoutCost)} {messages.withoutCostWarning}
        </p>
      )}
      <Card flush title={messages.lines}>
        {lines.length === 0 ? (
          <Empty title={messages.nothing}>{messages.nothingAbout}</Empty>
        ) : (
          <Table
            label={messages.lines}
            columns={columns}
            rows={inOrder(lines, columns, sort.order)}
            keyOf={({ key }) => key}
            sort={sort}
          />
        )}
      </Card>
    </>
  );
}

function Totals({ total }: { readonly total: MarginLine }) {
  const messages = useMessages(MARGIN_MESSAGES);
  const formats = useFormats();
  return (
    <div className="grid grid-cols-1 gap-3 sm:grid-cols-2 lg:grid-cols-3 xl:grid-cols-5">
      <Stat label={messages.revenue} hint={`${messages.credited} ${formats.cost(total.credited)}`}>
        {formats.cost(total.revenue)}
      </Stat>
      <Stat label={messages.cost}>{formats.cost(total.upstreamCost)}</Stat>
      <Stat label={messages.margin} hint={`${formats.count(total.requests)} ${messages.requests.toLowerCase()}`}>
        {formats.cost(total.margin)}
      </Stat>
      <Stat label={messages.uncollected} hint={messages.uncollectedHint}>
        {formats.cost(total.uncollected)}
      </Stat>
      <Stat label={messages.unbilled} hint={messages.unbilledHint}>
        {formats.cost(total.unbilled)}
      </Stat>
    </div>
  );
}

function useColumns(by: Group): readonly Column<MarginLine>[] {
  const messages = useMessages(MARGIN_MESSAGES);
  const formats = useFormats();
  const money = (text: string) => <span className="whitespace-nowrap">{formats.cost(text)}</span>;
  return [
    {
      key: "key",
      head: messages[by],
      value: ({ key }) => key,
      cell: ({ key }) =>
        key === "" ? (
          <span className="text-muted">{messages.noUpstream}</span>
        ) : by === "account" ? (
          <AccountName id={key} />
        ) : (
          <Mono>{key}</Mono>
        ),
    },
    {
      key: "requests",
      head: messages.requests,
      value: ({ requests }) => requests,
      right: true,
      wide: true,
      cell: ({ requests }) => formats.count(requests),
    },
    {
      key: "revenue",
      head: messages.revenue,
      value: ({ revenue }) => unitsOf(revenue),
      right: true,
      wide: true,
      cell: ({ revenue }) => money(revenue),
    },
    {
      key: "credited",
      head: messages.credited,
      value: ({ credited }) => unitsOf(credited),
      right: true,
      wide: true,
      cell: ({ credited }) => money(credited),
    },
    {
      key: "cost",
      head: messages.cost,
      value: ({ upstreamCost }) => unitsOf(upstreamCost),
      right: true,
      wide: true,
      cell: ({ upstreamCost }) => money(upstreamCost),
    },
    {
      key: "margin",
      head: messages.margin,
      value: ({ margin }) => unitsOf(margin),
      right: true,
      cell: ({ margin }) => (
        <strong className={`font-medium whitespace-nowrap ${margin.startsWith("-") ? "text-bad" : ""}`}>
          {formats.cost(margin)}
        </strong>
      ),
    },
    {
      key: "unbilled",
      head: messages.unbilled,
      value: ({ unbilled }) => unitsOf(unbilled),
      right: true,
      wide: true,
      cell: ({ unbilled }) => money(unbilled),
    },
    {
      key: "withoutCost",
      head: messages.withoutCost,
      value: ({ withoutCost }) => withoutCost,
      right: true,
      wide: true,
      cell: ({ withoutCost }) => formats.count(withoutCost),
    },
  ];
}
