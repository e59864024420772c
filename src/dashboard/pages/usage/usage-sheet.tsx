// One request with everything that explains its price.

import { timestampDate } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { BillingService } from "#gen/saldo/billing/v1/billing_service_pb.ts";
import type { UsageRecord } from "#gen/saldo/billing/v1/usage_pb.ts";
import { UNKNOWN, useFormats } from "../../i18n/format.ts";
import { useWords } from "../../i18n/language.tsx";
import { isNotThere } from "../../api/transport.ts";
import { Badge } from "../../components/badge.tsx";
import { CopyIconButton } from "../../components/copy.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { Fact } from "../../components/facts.tsx";
import { Empty, Failed, SkeletonLines } from "../../components/states.tsx";
import { toldBasis } from "./basis.ts";
import { Counting } from "./counting.tsx";
import { formulaOf } from "./formula.ts";
import { useKeyNames } from "./usage-filters.tsx";
import { USAGE_WORDS } from "./usage-words.ts";

/** Opens at the right when the address names a request. */
export function UsageSheet({
  requestId,
  onClose,
}: {
  readonly requestId: string | undefined;
  readonly onClose: () => void;
}) {
  const words = useWords(USAGE_WORDS);
  return (
    <Dialog side open={requestId !== undefined} onClose={onClose} title={words.request}>
      {requestId === undefined ? null : <Sheet requestId={requestId} />}
    </Dialog>
  );
}

function Sheet({ requestId }: { readonly requestId: string }) {
  const words = useWords(USAGE_WORDS);
  const formats = useFormats();
  const keys = useKeyNames();
  const { data, error, refetch } = useQuery(BillingService.method.getUsageRecord, { requestId });
  if (error !== null && data === undefined)
    return isNotThere(error) ? (
      <Empty title={words.gone}>{words.goneAbout}</Empty>
    ) : (
      <Failed error={error} retry={() => void refetch()} />
    );
  const record = data?.record;
  if (record === undefined) return <SkeletonLines lines={8} />;
  const basis = toldBasis(record.basis);
  return (
    <div className="flex flex-col gap-5">
      <dl className="flex flex-col gap-2">
        <Fact name={words.id}>
          <span className="flex items-center gap-1">
            <code className="font-mono text-xs wrap-anywhere">{record.requestId}</code>
            <CopyIconButton text={record.requestId} what={words.id} />
          </span>
        </Fact>
        <Fact name={words.time}>
          {record.createdAt === undefined ? UNKNOWN : formats.time(timestampDate(record.createdAt))}
        </Fact>
        <Fact name={words.model}>
          <code className="font-mono text-[0.8125rem] break-all">{record.model}</code>
        </Fact>
        <Fact name={words.key}>{keys.get(record.keyId) ?? record.keyId}</Fact>
        <Fact name={words.firstByte}>
          {record.firstByteMs === undefined ? UNKNOWN : formats.seconds(record.firstByteMs)}
        </Fact>
        <Fact name={words.duration}>{formats.seconds(record.durationMs)}</Fact>
        <Fact name={words.streamed}>{record.streamed ? words.yes : words.no}</Fact>
        <Fact name={words.basis}>
          <Badge tone={basis.tone}>{words[basis.word]}</Badge>
        </Fact>
      </dl>
      <p className="text-muted">
        {words[basis.about]} {record.clamped ? words.clamped : ""}
      </p>
      {record.metering === undefined ? null : <Counting metering={record.metering} />}
      <Formula record={record} credited={data?.credited ?? "0"} />
    </div>
  );
}

const isNothing = (amount: string): boolean => amount === "0" || amount === "";

function Formula({ record, credited }: { readonly record: UsageRecord; readonly credited: string }) {
  const words = useWords(USAGE_WORDS);
  const formats = useFormats();
  const { lines, perRequest, rounding, cost } = formulaOf(record);
  const above = record.billedPrices?.longContextAbove;
  return (
    <section aria-label={words.formula} className="rounded-lg border border-line">
      <h3 className="border-b border-line px-3 py-2 font-medium">{words.formula}</h3>
      <dl className="digits flex flex-col gap-2 p-3">
        {lines.map(({ name, tokens, price, amount }) => (
          <Fact key={name} name={words[name]}>
            {formats.exactRupiah(amount)}
            <span className="block text-xs text-muted">
              {formats.count(tokens)} × {formats.exactRupiah(price)} {words.perMillion}
            </span>
          </Fact>
        ))}
        {perRequest === "0" ? null : <Fact name={words.perRequest}>{formats.exactRupiah(perRequest)}</Fact>}
        {/* What was free cost less than it comes to; that is told above, and is no rounding. */}
        {rounding === "0" || rounding.startsWith("-") ? null : (
          <Fact name={words.rounding}>{formats.exactRupiah(rounding)}</Fact>
        )}
        <Fact name={words.cost}>{formats.exactRupiah(cost)}</Fact>
        <Fact name={words.charged}>
          <strong className="font-semibold">{formats.exactRupiah(record.charge)}</strong>
        </Fact>
        {isNothing(record.lateCharge) ? null : <Fact name={words.late}>{formats.exactRupiah(record.lateCharge)}</Fact>}
        {isNothing(credited) ? null : <Fact name={words.credited}>{formats.exactRupiah(credited)}</Fact>}
        {record.unbilledCost === undefined || isNothing(record.unbilledCost) ? null : (
          <Fact name={words.unbilled}>{formats.exactRupiah(record.unbilledCost)}</Fact>
        )}
      </dl>
      {above === undefined ? null : (
        <p className="px-3 pb-3 text-xs text-muted">
          {words.longContext} {formats.count(above)}.
        </p>
      )}
      {isNothing(record.lateCharge) ? null : <p className="px-3 pb-3 text-xs text-muted">{words.lateAbout}</p>}
      {record.charge === record.cost ? null : <p className="px-3 pb-3 text-xs text-muted">{words.notCharged}</p>}
    </section>
  );
}
