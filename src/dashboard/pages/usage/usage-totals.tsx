import type { SummarizeUsageResponse } from "#gen/saldo/billing/v1/billing_service_pb.ts";
import { UNKNOWN, useFormats } from "../../i18n/format.ts";
import { useMessages } from "../../i18n/language.tsx";
import { Stat } from "../../components/card.tsx";
import { Skeleton } from "../../components/states.tsx";
import { inputOf, outputOf } from "./token-totals.ts";
import { USAGE_MESSAGES } from "./usage-messages.ts";

type UsageTotalsProps = {
  readonly data: SummarizeUsageResponse | undefined;
  /** They failed to load, and are not loading again. */
  readonly isFailed: boolean;
};

/** The four numbers at the top. One that failed to load is a dash. */
export function UsageTotals({ data, isFailed }: UsageTotalsProps) {
  const messages = useMessages(USAGE_MESSAGES);
  const formats = useFormats();
  const totals = data?.totals;
  const input = totals === undefined ? 0n : inputOf(totals);
  const share = totals === undefined || input === 0n ? null : Number(totals.inputTokensCached) / Number(input);
  const missing = isFailed ? UNKNOWN : <Skeleton className="h-6 w-28 sm:h-8" />;
  return (
    <div className="grid grid-cols-2 gap-3 lg:grid-cols-4">
      <Stat label={messages.cost}>
        {totals === undefined ? missing : <span data-testid="total-cost">{formats.cost(totals.charge)}</span>}
      </Stat>
      <Stat label={messages.requests}>
        {totals === undefined ? missing : <span data-testid="total-requests">{formats.count(totals.requests)}</span>}
      </Stat>
      <Stat label={messages.tokens}>{totals === undefined ? missing : formats.compact(input + outputOf(totals))}</Stat>
      <Stat
        label={messages.fromCache}
        hint={totals === undefined ? UNKNOWN : `${messages.saved} ${formats.cost(totals.savedByCache)}`}
      >
        {totals === undefined ? missing : share === null ? UNKNOWN : formats.percent(share)}
      </Stat>
    </div>
  );
}
