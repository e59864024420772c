import { type ReactNode, useState } from "react";
import type { UsageSummary } from "#gen/saldo/billing/v1/usage_pb.ts";
import { useFormats } from "../../i18n/format.ts";
import { useMessages } from "../../i18n/language.tsx";
import { Button } from "../../components/button.tsx";
import { SkeletonLines } from "../../components/states.tsx";
import { ModelId } from "../../components/model-id.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { inputOf, outputOf } from "./token-totals.ts";
import { USAGE_MESSAGES } from "./usage-messages.ts";

const SHOWN_AT_ONCE = 50;

type UsageDaysProps = {
  readonly rows: readonly UsageSummary[] | undefined;
  /** Shown when there are none. */
  readonly nothing: ReactNode;
};

/** The usage of each model on each day. */
export function UsageDays({ rows, nothing }: UsageDaysProps) {
  const messages = useMessages(USAGE_MESSAGES);
  const formats = useFormats();
  const [shown, setShown] = useState(SHOWN_AT_ONCE);
  if (rows === undefined) return <SkeletonLines />;
  if (rows.length === 0) return nothing;
  const columns: readonly Column<UsageSummary>[] = [
    {
      key: "day",
      head: messages.day,
      cell: ({ day }) => <span className="md:whitespace-nowrap">{formats.day(day)}</span>,
    },
    {
      key: "model",
      head: messages.model,
      cell: ({ model }) => <ModelId id={model} />,
    },
    {
      key: "requests",
      head: messages.requests,
      right: true,
      wide: true,
      cell: ({ requests }) => formats.count(requests),
    },
    {
      key: "input",
      head: messages.input,
      right: true,
      wide: true,
      cell: (row) => formats.compact(inputOf(row)),
    },
    {
      key: "cached",
      head: messages.cached,
      right: true,
      wide: true,
      cell: (row) => formats.compact(row.inputTokensCached),
    },
    { key: "output", head: messages.output, right: true, wide: true, cell: (row) => formats.compact(outputOf(row)) },
    {
      key: "cost",
      head: messages.cost,
      right: true,
      cell: ({ charge }) => <strong className="font-medium">{formats.cost(charge)}</strong>,
    },
  ];
  return (
    <>
      <Table
        label={messages.byDay}
        columns={columns}
        rows={rows.slice(0, shown)}
        keyOf={({ day, model }) => `${day} ${model}`}
      />
      {rows.length > shown ? (
        <div className="p-4">
          <Button onClick={() => setShown(shown + SHOWN_AT_ONCE)}>{messages.more}</Button>
        </div>
      ) : null}
    </>
  );
}
