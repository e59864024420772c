// The first page of operators: what needs a decision, money in and out, open holds, and the health of upstreams.

import { useQuery } from "@connectrpc/connect-query";
import { CatalogService } from "#gen/saldo/operator/v1/catalog_service_pb.ts";
import type { GetOverviewResponse, MoneyFlow } from "#gen/saldo/operator/v1/overview_pb.ts";
import { SystemService } from "#gen/saldo/operator/v1/system_service_pb.ts";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { isDay } from "../../../i18n/days.ts";
import { UNKNOWN, useFormats } from "../../../i18n/format.ts";
import { useMessages } from "../../../i18n/language.tsx";
import { LinkButton } from "../../../components/button.tsx";
import { Card, Stat } from "../../../components/card.tsx";
import { Page } from "../../../components/page.tsx";
import { Failed, SkeletonLines, Stale } from "../../../components/states.tsx";
import { type Column, Table } from "../../../components/table.tsx";
import { OPERATOR_MESSAGES } from "../operator-messages.ts";
import { useAssetAmount } from "../components/amounts.ts";
import { DecisionsCard } from "./decisions-card.tsx";
import { OPERATOR_HOME_MESSAGES } from "./operator-home-messages.ts";
import { UpstreamsCard } from "./upstreams-card.tsx";

const ASK_AGAIN_MS = 20_000;

/** Every figure is the server's, from the ledger. The page refreshes by itself while it is visible. */
export function OperatorHomePage() {
  const messages = useMessages(OPERATOR_HOME_MESSAGES);
  const overview = useQuery(SystemService.method.getOverview, {}, { refetchInterval: ASK_AGAIN_MS });
  const upstreams = useQuery(CatalogService.method.listUpstreams, {}, { refetchInterval: ASK_AGAIN_MS });
  const { data, error } = overview;
  return (
    <Page title={messages.title} about={messages.about} actions={<Further />}>
      {data === undefined && error !== null ? <Failed error={error} retry={() => void overview.refetch()} /> : null}
      {data !== undefined && error !== null ? <Stale /> : null}
      {data === undefined && error === null ? <SkeletonLines lines={8} /> : null}
      {data === undefined ? null : <Numbers overview={data} />}
      <div className="grid items-start gap-4 lg:grid-cols-2">
        {data === undefined ? null : (
          <DecisionsCard decisions={data.decisions} upstreams={upstreams.data?.upstreams ?? []} />
        )}
        <UpstreamsCard query={upstreams} />
      </div>
      {data === undefined ? null : <Flows overview={data} />}
    </Page>
  );
}

function Further() {
  const messages = useMessages(OPERATOR_HOME_MESSAGES);
  return (
    <>
      <LinkButton to="/operator/ledger" search={{ view: "trial" }}>
        {messages.trialBalance}
      </LinkButton>
      <LinkButton to="/operator/margin">{messages.margin}</LinkButton>
    </>
  );
}

/** The rupiah of today and of the week, and what is held. */
function Numbers({ overview: { flows, holds, takenAt } }: { readonly overview: GetOverviewResponse }) {
  const messages = useMessages(OPERATOR_HOME_MESSAGES);
  const formats = useFormats();
  const rupiah = flows[0];
  const ofWeek = (amount: string | undefined) => `${messages.week}: ${formats.rupiah(amount)}`;
  const ageMs =
    holds?.oldestAt === undefined || takenAt === undefined ? null : timestampMs(takenAt) - timestampMs(holds.oldestAt);
  return (
    <div className="grid grid-cols-1 gap-3 sm:grid-cols-3">
      <Stat label={messages.inToday} hint={ofWeek(rupiah?.weekIn)}>
        <span data-testid="money-in-today">{formats.rupiah(rupiah?.todayIn)}</span>
      </Stat>
      <Stat label={messages.outToday} hint={ofWeek(rupiah?.weekOut)}>
        {formats.rupiah(rupiah?.todayOut)}
      </Stat>
      <Stat
        label={messages.holds}
        hint={
          holds === undefined
            ? UNKNOWN
            : `${formats.count(holds.requests)} ${messages.holdsHint}${
                ageMs === null
                  ? ""
                  : ` · ${messages.oldest} ${formats.count(Math.max(0, Math.round(ageMs / 1_000)))} ${messages.seconds}`
              }`
        }
      >
        {formats.exactRupiah(holds?.amount)}
      </Stat>
    </div>
  );
}

/** The flows of every currency as a table. */
function Flows({ overview: { flows, firstDay, flowsComplete } }: { readonly overview: GetOverviewResponse }) {
  const messages = useMessages(OPERATOR_HOME_MESSAGES);
  const shared = useMessages(OPERATOR_MESSAGES);
  const formats = useFormats();
  const amountOf = useAssetAmount();
  const columns: readonly Column<MoneyFlow>[] = [
    { key: "currency", head: messages.currency, cell: ({ currencyCode }) => currencyCode },
    ...(["todayIn", "todayOut", "weekIn", "weekOut"] as const).map((key) => ({
      key,
      head: messages[key],
      right: true,
      wide: key === "todayIn" || key === "todayOut",
      cell: (flow: MoneyFlow) => <span className="whitespace-nowrap">{amountOf(flow[key], flow.currencyCode)}</span>,
    })),
  ];
  return (
    <Card flush title={messages.flows}>
      <Table label={messages.flows} columns={columns} rows={flows} keyOf={({ currencyCode }) => currencyCode} />
      <p className="px-4 py-3 text-xs text-muted">
        {messages.flowsAbout} {isDay(firstDay) ? formats.day(firstDay) : UNKNOWN} · {shared.zone}.
        {flowsComplete ? null : <strong className="block font-medium text-warn">{messages.incomplete}</strong>}
      </p>
    </Card>
  );
}
