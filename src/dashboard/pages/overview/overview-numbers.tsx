import { useQuery } from "@connectrpc/connect-query";
import type { SummarizeUsageResponse } from "#gen/saldo/billing/v1/billing_service_pb.ts";
import { BillingService } from "#gen/saldo/billing/v1/billing_service_pb.ts";
import { dayOf } from "../../language/days.ts";
import { UNKNOWN, useFormats } from "../../language/format.ts";
import { useWords } from "../../language/language.tsx";
import { Stat } from "../../parts/card.tsx";
import { OVERVIEW_WORDS } from "./overview-words.ts";
import { runwayOf, spentSince } from "./runway.ts";

const A_YEAR = 365n;

/** The four numbers. What is not known, or could not be had, is a dash. */
export function OverviewNumbers({ usage }: { readonly usage: SummarizeUsageResponse | undefined }) {
  const words = useWords(OVERVIEW_WORDS);
  const formats = useFormats();
  const today = dayOf(new Date());
  const totals = usage?.totals;
  const requestsOfToday = usage?.rows.filter(({ day }) => day === today).reduce((sum, row) => sum + row.requests, 0);
  const input = totals === undefined ? 0n : totals.inputTokensUncached + totals.inputTokensCached;
  return (
    <div className="grid grid-cols-2 gap-3 lg:grid-cols-4">
      <BalanceNumber usage={usage} />
      <Stat
        label={words.today}
        hint={requestsOfToday === undefined ? UNKNOWN : `${formats.count(requestsOfToday)} ${words.requests}`}
      >
        {formats.cost(usage === undefined ? undefined : spentSince(usage.rows, today))}
      </Stat>
      <Stat
        label={words.thirty}
        hint={totals === undefined ? UNKNOWN : `${formats.count(totals.requests)} ${words.requests}`}
      >
        {formats.cost(totals?.charge)}
      </Stat>
      <Stat
        label={words.saved}
        hint={
          totals === undefined || input === 0n
            ? UNKNOWN
            : `${formats.percent(Number(totals.inputTokensCached) / Number(input))} ${words.fromCache}`
        }
      >
        {formats.cost(totals?.savedByCache)}
      </Stat>
    </div>
  );
}

function BalanceNumber({ usage }: { readonly usage: SummarizeUsageResponse | undefined }) {
  const words = useWords(OVERVIEW_WORDS);
  const formats = useFormats();
  const { data } = useQuery(BillingService.method.getBalance, {});
  const available = data?.balance?.available;
  const days =
    usage === undefined || available === undefined ? undefined : runwayOf(available, usage.rows, dayOf(new Date()));
  return (
    <Stat
      label={words.balance}
      hint={
        days === undefined
          ? UNKNOWN
          : days === null
            ? words.noRunway
            : `${days > A_YEAR ? words.longRunway : `${words.runway} ${formats.count(days)} ${words.days},`} ${words.runwayHint}`
      }
    >
      {formats.rupiah(available)}
    </Stat>
  );
}
