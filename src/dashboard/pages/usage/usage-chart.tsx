import type { ReactNode } from "react";
import type { SummarizeUsageResponse } from "#gen/saldo/billing/v1/billing_service_pb.ts";
import type { Decimal } from "../../i18n/format.ts";
import { useFormats } from "../../i18n/format.ts";
import { useMessages } from "../../i18n/language.tsx";
import { Card } from "../../components/card.tsx";
import { Segments } from "../../components/segments.tsx";
import { type Bar, StackedBars, Swatch } from "../../components/stacked-bars.tsx";
import { Skeleton } from "../../components/states.tsx";
import { Table } from "../../components/table.tsx";
import { barsOf, type Share, sharesOf } from "./usage-bars.ts";
import { useChangeSearch } from "./change-search.ts";
import { useMembersSeen } from "../members/members-seen.ts";
import { TITLES, useGroupedSums, useGroupNames } from "./grouped-sums.tsx";
import type { filterOf, rangeOf, UsageStack, UsageUnit } from "./usage-search.ts";
import { USAGE_MESSAGES } from "./usage-messages.ts";

type UsageChartProps = {
  readonly data: SummarizeUsageResponse | undefined;
  /** Shown in place of a chart that failed to load. */
  readonly failed: ReactNode | undefined;
  readonly unit: UsageUnit;
  readonly by: UsageStack;
  readonly filter: ReturnType<typeof filterOf>;
  readonly range: ReturnType<typeof rangeOf>;
};

/** The label of the total in each unit. */
const TOTALS = { rupiah: "cost", tokens: "tokens", requests: "requests" } as const satisfies Record<UsageUnit, string>;

/** The chart with its totals in the legend, and the same as a table. `data` is by model; other sums are fetched here. */
export function UsageChart({ data: byModel, failed: failedByModel, unit, by, filter, range }: UsageChartProps) {
  const messages = useMessages(USAGE_MESSAGES);
  const formats = useFormats();
  const nameOf = useGroupNames(by);
  const { data, failed } = useGroupedSums({ data: byModel, failed: failedByModel }, filter, by);
  const valueName = (value: Decimal): string =>
    unit === "rupiah" ? formats.cost(value) : formats.count(BigInt(value));
  const shares = data === undefined ? [] : sharesOf(data.rows, unit);
  const title = messages[TITLES[by]];
  const bars =
    data === undefined
      ? []
      : barsOf({
          rows: data.rows,
          unit,
          range,
          othersName: messages.others,
          groupName: nameOf,
          dayName: formats.day,
          shortDayName: formats.shortDay,
          valueName,
        });
  return (
    <Card title={title} aside={<Views unit={unit} by={by} />}>
      {data === undefined ? (
        (failed ?? <Skeleton className="h-60 w-full" />)
      ) : shares.length === 0 ? (
        <p className="flex h-60 items-center justify-center text-center text-muted">{messages.nothing}</p>
      ) : (
        <StackedBars label={title} bars={bars} tick={formats.tick} whole={unit !== "rupiah"} />
      )}
      <Legend shares={shares} valueName={valueName} groupName={nameOf} />
      {shares.length === 0 ? null : (
        <details className="mt-3">
          <summary className="text-muted">{messages.asTable}</summary>
          <div className="mt-2">
            <BarsAsTable title={title} bars={bars} unit={unit} by={by} />
          </div>
        </details>
      )}
    </Card>
  );
}

function Views({ unit, by }: { readonly unit: UsageUnit; readonly by: UsageStack }) {
  const messages = useMessages(USAGE_MESSAGES);
  const change = useChangeSearch();
  const members = useMembersSeen();
  return (
    <div className="flex flex-wrap gap-2">
      <Segments
        label={messages.stack}
        value={by}
        choices={[
          { value: "model", label: messages.byModel },
          { value: "key", label: messages.byKey },
          ...(members.length > 1 || by === "member" ? [{ value: "member", label: messages.byMember } as const] : []),
        ]}
        onChange={(value) => change({ by: value === "model" ? undefined : value })}
      />
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
    </div>
  );
}

type BarsAsTableProps = {
  readonly title: string;
  readonly bars: readonly Bar[];
  readonly unit: UsageUnit;
  readonly by: UsageStack;
};

function BarsAsTable({ title, bars, unit, by }: BarsAsTableProps) {
  const messages = useMessages(USAGE_MESSAGES);
  return (
    <Table
      label={title}
      rows={bars.filter(({ parts }) => parts.length > 0).toReversed()}
      keyOf={({ label }) => label}
      columns={[
        { key: "day", head: messages.day, cell: ({ label }) => label },
        {
          key: "parts",
          head: messages[by],
          cell: ({ parts }) => parts.map((part) => `${part.name} ${part.value}`).join(", "),
        },
        { key: "total", head: messages[TOTALS[unit]], right: true, cell: ({ total }) => total },
      ]}
    />
  );
}

type LegendProps = {
  readonly shares: readonly Share[];
  readonly valueName: (value: Decimal) => string;
  readonly groupName?: (group: string) => string;
};

/** The colour and the total of each model, key or member. */
export function Legend({ shares, valueName, groupName = (group) => group }: LegendProps) {
  const messages = useMessages(USAGE_MESSAGES);
  return (
    <ul className="mt-3 flex flex-wrap gap-x-5 gap-y-2">
      {shares.map(({ group, colour, total }) => (
        // A group without a name is not the same as all others.
        <li key={group === null ? "others" : `of ${group}`} className="flex min-w-0 items-center gap-2">
          <Swatch colour={colour} />
          <span className="truncate font-mono text-[0.8125rem]">
            {group === null ? messages.others : groupName(group)}
          </span>
          <span className="digits text-muted">{valueName(total)}</span>
        </li>
      ))}
    </ul>
  );
}
