import type { ReactNode } from "react";
import type { SummarizeUsageResponse } from "#gen/saldo/billing/v1/billing_service_pb.ts";
import type { Decimal } from "../../i18n/format.ts";
import { useFormats } from "../../i18n/format.ts";
import { useMessages } from "../../i18n/language.tsx";
import { Card } from "../../components/card.tsx";
import { Segments } from "../../components/segments.tsx";
import { StackedBars, Swatch } from "../../components/stacked-bars.tsx";
import { Skeleton } from "../../components/states.tsx";
import { Table } from "../../components/table.tsx";
import { barsOf, type ModelShare, sharesOf } from "./usage-bars.ts";
import { useChangeSearch } from "./change-search.ts";
import type { rangeOf, UsageUnit } from "./usage-search.ts";
import { USAGE_MESSAGES } from "./usage-messages.ts";

type UsageChartProps = {
  readonly data: SummarizeUsageResponse | undefined;
  /** Shown in place of a chart that failed to load. */
  readonly failed: ReactNode | undefined;
  readonly unit: UsageUnit;
  readonly range: ReturnType<typeof rangeOf>;
};

/** The label of the total in each unit. */
const TOTALS = { rupiah: "cost", tokens: "tokens", requests: "requests" } as const satisfies Record<UsageUnit, string>;

/** The chart with its totals in the legend, and the same as a table. */
export function UsageChart({ data, failed, unit, range }: UsageChartProps) {
  const messages = useMessages(USAGE_MESSAGES);
  const formats = useFormats();
  const change = useChangeSearch();
  const valueName = (value: Decimal): string =>
    unit === "rupiah" ? formats.cost(value) : formats.count(BigInt(value));
  const shares = data === undefined ? [] : sharesOf(data.rows, unit);
  const bars =
    data === undefined
      ? []
      : barsOf({
          rows: data.rows,
          unit,
          range,
          othersName: messages.others,
          dayName: formats.day,
          shortDayName: formats.shortDay,
          valueName,
        });
  return (
    <Card
      title={messages.chart}
      aside={
        <Segments
          label={messages.unit}
          value={unit}
          choices={[
            { value: "rupiah", label: "Rp" },
            { value: "tokens", label: messages.tokens },
            { value: "requests", label: messages.requests },
          ]}
          onChange={(value) => change({ unit: value === "rupiah" ? undefined : value })}
        />
      }
    >
      {data === undefined ? (
        (failed ?? <Skeleton className="h-60 w-full" />)
      ) : shares.length === 0 ? (
        <p className="flex h-60 items-center justify-center text-center text-muted">{messages.nothing}</p>
      ) : (
        <StackedBars label={messages.chart} bars={bars} tick={formats.tick} whole={unit !== "rupiah"} />
      )}
      <Legend shares={shares} valueName={valueName} />
      {shares.length === 0 ? null : (
        <details className="mt-3">
          <summary className="text-muted">{messages.asTable}</summary>
          <div className="mt-2">
            <Table
              label={messages.chart}
              rows={bars.filter(({ parts }) => parts.length > 0).toReversed()}
              keyOf={({ label }) => label}
              columns={[
                { key: "day", head: messages.day, cell: ({ label }) => label },
                {
                  key: "parts",
                  head: messages.model,
                  cell: ({ parts }) => parts.map((part) => `${part.name} ${part.value}`).join(", "),
                },
                { key: "total", head: messages[TOTALS[unit]], right: true, cell: ({ total }) => total },
              ]}
            />
          </div>
        </details>
      )}
    </Card>
  );
}

/** The colour and the total of each model. */
export function Legend({
  shares,
  valueName,
}: {
  readonly shares: readonly ModelShare[];
  readonly valueName: (value: Decimal) => string;
}) {
  const messages = useMessages(USAGE_MESSAGES);
  return (
    <ul className="mt-3 flex flex-wrap gap-x-5 gap-y-2">
      {shares.map(({ model, colour, total }) => (
        <li key={model ?? ""} className="flex min-w-0 items-center gap-2">
          <Swatch colour={colour} />
          <span className="truncate font-mono text-[0.8125rem]">{model ?? messages.others}</span>
          <span className="digits text-muted">{valueName(total)}</span>
        </li>
      ))}
    </ul>
  );
}
