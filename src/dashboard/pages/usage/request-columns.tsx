// The columns of a list of requests; the overview shows the same.

import { timestampDate } from "@bufbuild/protobuf/wkt";
import { UsageBasis, type UsageRecord } from "#gen/saldo/billing/v1/usage_pb.ts";
import { UNKNOWN, useFormats } from "../../i18n/format.ts";
import { useMessages } from "../../i18n/language.tsx";
import { Badge } from "../../components/badge.tsx";
import { ModelId } from "../../components/model-id.tsx";
import type { Column } from "../../components/table.tsx";
import { toldBasis } from "./basis.ts";
import { FailureCode } from "./failure-code.tsx";
import { inputOf, outputOf } from "./token-totals.ts";
import { useKeyNames } from "./usage-filters.tsx";
import { USAGE_MESSAGES } from "./usage-messages.ts";

/** From the moment to the basis of the token counts. */
export function useRequestColumns(): readonly Column<UsageRecord>[] {
  const messages = useMessages(USAGE_MESSAGES);
  const formats = useFormats();
  const keys = useKeyNames();
  return [
    { key: "time", head: messages.time, isSorted: true, cell: (record) => <Moment record={record} /> },
    { key: "model", head: messages.model, wide: true, cell: ({ model }) => <ModelId id={model} /> },
    {
      key: "key",
      head: messages.key,
      wide: true,
      cell: ({ keyId }) => <KeyName name={keys.get(keyId) ?? keyId.slice(0, 8)} />,
    },
    { key: "input", head: messages.input, right: true, wide: true, cell: (record) => <InputTokens record={record} /> },
    {
      key: "output",
      head: messages.output,
      right: true,
      wide: true,
      cell: (record) => formats.count(outputOf(record)),
    },
    {
      key: "cost",
      head: messages.cost,
      isSorted: true,
      right: true,
      cell: ({ charge, failure }) => (
        <strong className="font-medium whitespace-nowrap">
          {/* What failed and cost nothing has no price; Rp 0 would be one. */}
          {failure !== undefined && charge === "0" ? UNKNOWN : formats.cost(charge)}
        </strong>
      ),
    },
    {
      key: "duration",
      head: messages.duration,
      isSorted: true,
      right: true,
      wide: true,
      cell: ({ durationMs }) => <span className="whitespace-nowrap text-muted">{formats.seconds(durationMs)}</span>,
    },
    { key: "basis", head: messages.basis, wide: true, cell: (record) => <Basis record={record} /> },
  ];
}

type RecordProps = { readonly record: UsageRecord };

/** On a narrow page, the request's other facts are here. */
function Moment({ record }: RecordProps) {
  const { createdAt, model, basis, failure } = record;
  const formats = useFormats();
  const time = createdAt === undefined ? "" : formats.moment(timestampDate(createdAt));
  return (
    <>
      <span className="whitespace-nowrap text-muted max-md:hidden">{time}</span>
      <span className="flex flex-col items-start gap-0.5 md:hidden">
        <ModelId id={model} />
        <span className="text-xs text-muted">{time}</span>
        {isUsual(basis) && failure === undefined ? null : <Basis record={record} />}
      </span>
    </>
  );
}

function KeyName({ name }: { readonly name: string }) {
  return (
    <span className="block max-w-26 truncate" title={name}>
      {name}
    </span>
  );
}

function InputTokens({ record }: RecordProps) {
  const { inputTokensCached } = record;
  const messages = useMessages(USAGE_MESSAGES);
  const formats = useFormats();
  return (
    <>
      {formats.count(inputOf(record))}
      {inputTokensCached === 0 ? null : (
        <span className="block text-xs whitespace-nowrap text-muted">
          {formats.count(inputTokensCached)} {messages.ofCache}
        </span>
      )}
    </>
  );
}

function Basis({ record: { basis, failure } }: RecordProps) {
  const messages = useMessages(USAGE_MESSAGES);
  const { word, tone } = toldBasis(basis);
  if (failure === undefined) return <Badge tone={tone}>{messages[word]}</Badge>;
  return (
    <span className="flex flex-col items-start gap-0.5">
      <Badge tone={tone}>{messages[word]}</Badge>
      <FailureCode failure={failure} />
    </span>
  );
}

function isUsual(basis: UsageBasis): boolean {
  return basis === UsageBasis.EXACT || basis === UsageBasis.UNSPECIFIED;
}
