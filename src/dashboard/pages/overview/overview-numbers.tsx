import { useQuery } from "@connectrpc/connect-query";
import type { SummarizeUsageResponse } from "#gen/saldo/billing/v1/billing_service_pb.ts";
import { BillingService } from "#gen/saldo/billing/v1/billing_service_pb.ts";
import type { Day } from "../../i18n/days.ts";
import { UNKNOWN, useFormats } from "../../i18n/format.ts";
import { useMessages } from "../../i18n/language.tsx";
import { Stat } from "../../components/card.tsx";
import { useMay } from "../../layouts/role.ts";
import { inputOf } from "../usage/token-totals.ts";
import { OVERVIEW_MESSAGES } from "./overview-messages.ts";
import { runwayOf, spentSince } from "./runway.ts";

const A_YEAR = 365n;

type NumbersProps = { readonly usage: SummarizeUsageResponse | undefined; readonly today: Day };

/** The four numbers. An unknown one, or one that failed to load, is a dash. */
export function OverviewNumbers({ usage, today }: NumbersProps) {
  const messages = useMessages(OVERVIEW_MESSAGES);
  const formats = useFormats();
  const totals = usage?.totals;
  const requestsOfToday = usage?.rows.filter(({ day }) => day === today).reduce((sum, row) => sum + row.requests, 0);
  const input = totals === undefined ? 0n : inputOf(totals);
  return (
    <div className="grid gap-3 min-[26.25rem]:grid-cols-2 lg:grid-cols-4">
      <BalanceNumber usage={usage} today={today} />
      <Stat
        label={messages.today}
        hint={
          requestsOfToday === undefined
            ? UNKNOWN
            : formats.counted(requestsOfToday, messages.request, messages.requests)
        }
      >
        {formats.headlineCost(usage === undefined ? undefined : spentSince(usage.rows, today))}
      </Stat>
      <Stat
        label={messages.thirty}
        hint={totals === undefined ? UNKNOWN : formats.counted(totals.requests, messages.request, messages.requests)}
      >
        {formats.headlineCost(totals?.charge)}
      </Stat>
      <Stat
        label={messages.saved}
        hint={
          totals === undefined || input === 0n
            ? UNKNOWN
            : `${formats.percent(Number(totals.inputTokensCached) / Number(input))} ${messages.fromCache}`
        }
      >
        {formats.headlineCost(totals?.savedByCache)}
      </Stat>
    </div>
  );
}

function BalanceNumber({ usage, today }: NumbersProps) {
  const messages = useMessages(OVERVIEW_MESSAGES);
  const formats = useFormats();
  const { data, error, refetch } = useQuery(BillingService.method.getBalance, {});
  const seesAll = useMay("readMoney");
  const available = data?.balance?.available;
  if (data === undefined && error !== null)
    return (
      <Stat
        label={messages.balance}
        hint={
          <span role="alert" className="flex flex-wrap items-center gap-x-2 text-bad">
            {messages.notLoaded}
            <button type="button" className="min-h-6 underline underline-offset-2" onClick={() => void refetch()}>
              {messages.again}
            </button>
          </span>
        }
      >
        {UNKNOWN}
      </Stat>
    );
  const days = usage === undefined || available === undefined ? undefined : runwayOf(available, usage.rows, today);
  const owed = data?.balance?.owed ?? "0";
  // A developer sees the balance of all and the own usage alone: how long it lasts is unknown.
  const runway = !seesAll ? messages.shared : days === undefined ? UNKNOWN : <Runway days={days} />;
  return (
    <Stat label={messages.balance} hint={owed === "0" ? runway : `${formats.rupiah(owed)} ${messages.owed}`}>
      {formats.rupiah(available)}
    </Stat>
  );
}

function Runway({ days }: { readonly days: bigint | null }) {
  const messages = useMessages(OVERVIEW_MESSAGES);
  const formats = useFormats();
  if (days === null) return messages.noRunway;
  const lasting =
    days > A_YEAR ? messages.longRunway : `${messages.runway} ${formats.counted(days, messages.day, messages.days)},`;
  return `${lasting} ${messages.runwayHint}`;
}
