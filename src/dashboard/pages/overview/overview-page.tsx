import { useQuery } from "@connectrpc/connect-query";
import { Navigate, useNavigate } from "@tanstack/react-router";
import { Wallet } from "lucide-react";
import { useMemo } from "react";
import type { SummarizeUsageResponse } from "#gen/saldo/billing/v1/billing_service_pb.ts";
import { AccountRole } from "#gen/saldo/options/v1/options_pb.ts";
import { BillingService } from "#gen/saldo/billing/v1/billing_service_pb.ts";
import { type Day, daysLater } from "../../i18n/days.ts";
import { useFormats } from "../../i18n/format.ts";
import { useMessages } from "../../i18n/language.tsx";
import { useToday } from "../../i18n/today.ts";
import { LinkButton } from "../../components/button.tsx";
import { Card } from "../../components/card.tsx";
import { Page } from "../../components/page.tsx";
import { StackedBars } from "../../components/stacked-bars.tsx";
import { Failed, Skeleton, SkeletonLines } from "../../components/states.tsx";
import { Table } from "../../components/table.tsx";
import { useActingFor, useMay } from "../../layouts/role.ts";
import { barsOf, sharesOf } from "../usage/usage-bars.ts";
import { Legend } from "../usage/usage-chart.tsx";
import { useRequestColumns } from "../usage/request-columns.tsx";
import { filterOf } from "../usage/usage-search.ts";
import { USAGE_MESSAGES } from "../usage/usage-messages.ts";
import { OwnBudget } from "../keys/own-budget.tsx";
import { Checklist } from "./checklist.tsx";
import { OverviewNumbers } from "./overview-numbers.tsx";
import { OVERVIEW_MESSAGES } from "./overview-messages.ts";
import { ReceivedInvites } from "./received-invites.tsx";
import { useFirstSteps } from "./use-first-steps.ts";

const CHART_DAYS = 14;
const SHOWN_REQUESTS = 5;
const REFRESH_MS = 15_000;

/** The overview of an account; for a new account, its first steps. A member who sees money alone has the page of the balance instead. */
export function OverviewPage() {
  const role = useActingFor()?.role;
  return role === AccountRole.BILLING ? <Navigate to="/billing" replace /> : <Overview />;
}

function Overview() {
  const mayPay = useMay("pay");
  const mayMakeKeys = useMay("askModels");
  const messages = useMessages(OVERVIEW_MESSAGES);
  const firstSteps = useFirstSteps();
  const isAsking = firstSteps === "asking";
  const steps = isAsking ? null : firstSteps;
  const today = useToday();
  const filter = useMemo(() => filterOf({}, today), [today]);
  const usage = useQuery(BillingService.method.summarizeUsage, { filter }, { refetchInterval: REFRESH_MS });
  return (
    <Page
      title={messages.title}
      about={messages.about}
      actions={
        mayPay ? (
          <LinkButton to="/billing" variant={steps?.isDone === true ? "action" : "plain"} icon={<Wallet aria-hidden />}>
            {messages.topUp}
          </LinkButton>
        ) : undefined
      }
    >
      <ReceivedInvites />
      {/* The list of first steps decides where everything else is placed, and nothing may move once it is shown. */}
      {isAsking ? (
        <Skeleton className="h-100 w-full" />
      ) : (
        <>
          {steps === null || steps.isDone || !mayPay || !mayMakeKeys ? null : <Checklist steps={steps} />}
          <OverviewNumbers usage={usage.data} today={today} />
          <OwnBudget />
          {/* An account without requests has that list instead of an empty chart. */}
          {steps !== null && steps.firstRequest === null ? null : (
            <>
              <MiniChart today={today} data={usage.data} error={usage.error} retry={() => void usage.refetch()} />
              <LastRequests />
            </>
          )}
        </>
      )}
    </Page>
  );
}

type MiniChartProps = {
  readonly today: Day;
  readonly data: SummarizeUsageResponse | undefined;
  readonly error: unknown;
  readonly retry: () => void;
};

function MiniChart({ today: last, data, error, retry }: MiniChartProps) {
  const messages = useMessages(OVERVIEW_MESSAGES);
  const { others } = useMessages(USAGE_MESSAGES);
  const formats = useFormats();
  const first = daysLater(last, 1 - CHART_DAYS);
  const rows = data?.rows.filter(({ day }) => day >= first);
  const shares = sharesOf(rows ?? [], "rupiah");
  return (
    <Card title={messages.chart} aside={<LinkButton to="/usage">{messages.allUsage}</LinkButton>}>
      {rows === undefined ? (
        error === null ? (
          <Skeleton className="h-45 w-full" />
        ) : (
          <Failed error={error} retry={retry} />
        )
      ) : shares.every(({ total }) => total === "0") ? (
        <p className="flex h-45 items-center justify-center text-center text-muted">{messages.noUsage}</p>
      ) : (
        <>
          <StackedBars
            label={messages.chart}
            height={180}
            tick={formats.tick}
            bars={barsOf({
              rows,
              unit: "rupiah",
              range: { first, last },
              othersName: others,
              dayName: formats.day,
              shortDayName: formats.shortDay,
              valueName: formats.cost,
            })}
          />
          <Legend shares={shares} valueName={formats.cost} />
        </>
      )}
    </Card>
  );
}

function LastRequests() {
  const messages = useMessages(OVERVIEW_MESSAGES);
  const navigate = useNavigate();
  const columns = useRequestColumns();
  const { data, error, refetch } = useQuery(
    BillingService.method.listUsage,
    { pageSize: SHOWN_REQUESTS },
    { refetchInterval: REFRESH_MS },
  );
  return (
    <Card
      flush
      title={messages.last}
      aside={
        <LinkButton to="/usage" search={{ tab: "requests" }}>
          {messages.allRequests}
        </LinkButton>
      }
    >
      {data === undefined ? (
        error === null ? (
          <SkeletonLines lines={SHOWN_REQUESTS} />
        ) : (
          <Failed error={error} retry={() => void refetch()} />
        )
      ) : (
        <Table
          label={messages.last}
          columns={columns}
          rows={data.records}
          keyOf={({ requestId }) => requestId}
          onOpen={({ requestId }) => void navigate({ to: "/usage", search: { tab: "requests", request: requestId } })}
          openLabel={({ requestId }) => `${messages.open} ${requestId}`}
        />
      )}
    </Card>
  );
}
