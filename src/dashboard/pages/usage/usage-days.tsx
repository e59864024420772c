import { type ReactNode, useState } from "react";
import type { UsageSummary } from "#gen/saldo/billing/v1/usage_pb.ts";
import { useFormats } from "../../i18n/format.ts";
import { useMessages } from "../../i18n/language.tsx";
import { Button } from "../../components/button.tsx";
import { SkeletonLines } from "../../components/states.tsx";
import { ModelId } from "../../components/model-id.tsx";
import { inOrder } from "../../components/order.ts";
import { WrappedName } from "../../components/wrapped-name.tsx";
import { type Column, type Sort, Table } from "../../components/table.tsx";
import { unitsOf } from "../../i18n/decimal.ts";
import { inputOf, outputOf } from "./token-totals.ts";
import { groupOf, TITLES, useGroupNames } from "./grouped-sums.tsx";
import type { UsageStack } from "./usage-search.ts";
import { USAGE_MESSAGES } from "./usage-messages.ts";

const SHOWN_AT_ONCE = 50;

type UsageDaysProps = {
  /** What is summed on each day. */
  readonly by: UsageStack;
  readonly rows: readonly UsageSummary[] | undefined;
  /** Shown when there are none. */
  readonly nothing: ReactNode;
  readonly sort: Sort;
};

/** The usage of each model, key or member on each day. */
export function UsageDays({ by, rows, nothing, sort }: UsageDaysProps) {
  const messages = useMessages(USAGE_MESSAGES);
  const nameOf = useGroupNames(by);
  const formats = useFormats();
  const [shown, setShown] = useState(SHOWN_AT_ONCE);
  if (rows === undefined) return <SkeletonLines />;
  if (rows.length === 0) return nothing;
  const columns: readonly Column<UsageSummary>[] = [
    {
      key: "day",
      head: messages.day,
      value: ({ day }) => day,
      cell: ({ day }) => <span className="md:whitespace-nowrap">{formats.day(day)}</span>,
    },
    {
      key: by,
      head: messages[by],
      value: (row) => nameOf(groupOf(row, by)),
      cell: (row) => (by === "model" ? <ModelId id={row.model} /> : <WrappedName name={nameOf(groupOf(row, by))} />),
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
      key: "input",
      head: messages.input,
      value: inputOf,
      right: true,
      wide: true,
      cell: (row) => formats.compact(inputOf(row)),
    },
    {
      key: "cached",
      head: messages.cached,
      value: ({ inputTokensCached }) => inputTokensCached,
      right: true,
      wide: true,
      cell: (row) => formats.compact(row.inputTokensCached),
    },
    {
      key: "output",
      head: messages.output,
      value: outputOf,
      right: true,
      wide: true,
      cell: (row) => formats.compact(outputOf(row)),
    },
    {
      key: "cost",
      head: messages.cost,
      value: ({ charge }) => unitsOf(charge),
      right: true,
      cell: ({ charge }) => <strong className="font-medium">{formats.cost(charge)}</strong>,
    },
  ];
  return (
    <>
      <Table
        label={messages[TITLES[by]]}
        columns={columns}
        rows={inOrder(rows, columns, sort.order).slice(0, shown)}
        sort={sort}
        keyOf={(row) => `${row.day} ${groupOf(row, by)}`}
      />
      {rows.length > shown ? (
        <div className="p-4">
          <Button onClick={() => setShown(shown + SHOWN_AT_ONCE)}>{messages.more}</Button>
        </div>
      ) : null}
    </>
  );
}
