// One request with everything that explains its price.

import { timestampDate } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { BillingService } from "#gen/saldo/billing/v1/billing_service_pb.ts";
import type { UsageRecord } from "#gen/saldo/billing/v1/usage_pb.ts";
import { UNKNOWN, useFormats } from "../../i18n/format.ts";
import { isNotThere } from "../../api/transport.ts";
import { Badge } from "../../components/badge.tsx";
import { CopyIconButton } from "../../components/copy.tsx";
import { Fact } from "../../components/facts.tsx";
import { Empty, Failed, SkeletonLines } from "../../components/states.tsx";
import { toldBasis } from "./basis.ts";
import { Counting } from "./counting.tsx";
import { FailureCode } from "./failure-code.tsx";
import { FailureReason } from "./failure-reason.tsx";
import { formulaOf, type FormulaLine } from "./formula.ts";
import { useKeyNames } from "./usage-filters.tsx";
import { useRequestMessages } from "./use-request-messages.ts";

/** The facts of a request. Its code is fetched when the first sheet is opened. */
export function RequestSheet({ requestId }: { readonly requestId: string }) {
  const messages = useRequestMessages();
  const formats = useFormats();
  const keys = useKeyNames();
  const { data, error, refetch } = useQuery(BillingService.method.getUsageRecord, { requestId });
  if (error !== null && data === undefined)
    return isNotThere(error) ? (
      <Empty title={messages.gone}>{messages.goneAbout}</Empty>
    ) : (
      <Failed error={error} retry={() => void refetch()} />
    );
  const record = data?.record;
  if (record === undefined) return <SkeletonLines lines={8} />;
  const basis = toldBasis(record.basis);
  return (
    <div className="flex flex-col gap-5">
      <dl className="flex flex-col gap-2">
        <Fact name={messages.id}>
          <span className="flex items-center gap-1">
            <code className="font-mono text-xs wrap-anywhere">{record.requestId}</code>
            <CopyIconButton text={record.requestId} what={messages.id} />
          </span>
        </Fact>
        <Fact name={messages.time}>
          {record.createdAt === undefined ? UNKNOWN : formats.time(timestampDate(record.createdAt))}
        </Fact>
        <Fact name={messages.model}>
          <code className="font-mono text-[0.8125rem] break-all">{record.model}</code>
        </Fact>
        <Fact name={messages.key}>{keys.get(record.keyId) ?? record.keyId}</Fact>
        <Fact name={messages.firstByte}>
          {record.firstByteMs === undefined ? UNKNOWN : formats.seconds(record.firstByteMs)}
        </Fact>
        <Fact name={messages.duration}>{formats.seconds(record.durationMs)}</Fact>
        <Fact name={messages.streamed}>{record.streamed ? messages.yes : messages.no}</Fact>
        <Fact name={messages.basis}>
          <Badge tone={basis.tone}>{messages[basis.word]}</Badge>
        </Fact>
        {record.failure === undefined ? null : (
          <Fact name={messages.failure}>
            <FailureCode failure={record.failure} />
          </Fact>
        )}
      </dl>
      {record.failure === undefined ? null : <FailureReason failure={record.failure} />}
      <p className="text-muted">
        {messages[basis.about]} {record.clamped ? messages.clamped : ""}
      </p>
      {record.metering === undefined ? null : <Counting metering={record.metering} />}
      <Formula record={record} credited={data?.credited ?? "0"} />
    </div>
  );
}

/** The sentences that explain kinds of tokens which the counts alone do not. */
const ABOUT: Partial<Record<FormulaLine["name"], keyof ReturnType<typeof useRequestMessages>>> = {
  input: "inputAbout",
  cached: "cachedAbout",
  cacheWrite: "cacheWriteAbout",
  cacheWrite1h: "cacheWrite1hAbout",
  output: "outputAbout",
};

const isNothing = (amount: string): boolean => amount === "0" || amount === "";

function Formula({ record, credited }: { readonly record: UsageRecord; readonly credited: string }) {
  const messages = useRequestMessages();
  const formats = useFormats();
  const { lines, perRequest, rounding, cost } = formulaOf(record);
  const above = record.billedPrices?.longContextAbove;
  const isRounded = formats.headlineCost(record.charge) !== formats.exactRupiah(record.charge);
  return (
    <section aria-label={messages.formula} className="rounded-lg border border-line">
      <h3 className="border-b border-line px-3 py-2 font-medium">{messages.formula}</h3>
      <dl className="digits flex flex-col gap-2 p-3">
        {lines.map(({ name, tokens, price, amount }) => {
          const about = tokens === 0 ? undefined : ABOUT[name];
          return (
            <Fact key={name} name={messages[name]}>
              {formats.exactRupiah(amount)}
              <span className="block text-xs text-muted">
                {formats.count(tokens)} × {formats.exactRupiah(price)} {messages.perMillion}
              </span>
              {about === undefined ? null : <span className="block text-xs text-muted">{messages[about]}</span>}
            </Fact>
          );
        })}
        {perRequest === "0" ? null : <Fact name={messages.perRequest}>{formats.exactRupiah(perRequest)}</Fact>}
        {/* A free request costs less than its lines add up to; another line explains that, and it is no rounding. */}
        {rounding === "0" || rounding.startsWith("-") ? null : (
          <Fact name={messages.rounding}>{formats.exactRupiah(rounding)}</Fact>
        )}
        <Fact name={messages.cost}>{formats.exactRupiah(cost)}</Fact>
        <Fact name={messages.charged}>
          {/* The same number as in the list, and all its digits where that is rounded. */}
          <strong className="font-semibold">{formats.cost(record.charge)}</strong>
          {isRounded ? <span className="block text-xs text-muted">{formats.exactRupiah(record.charge)}</span> : null}
        </Fact>
        {isNothing(record.lateCharge) ? null : (
          <Fact name={messages.late}>{formats.exactRupiah(record.lateCharge)}</Fact>
        )}
        {isNothing(credited) ? null : <Fact name={messages.credited}>{formats.exactRupiah(credited)}</Fact>}
        {record.unbilledCost === undefined || isNothing(record.unbilledCost) ? null : (
          <Fact name={messages.unbilled}>{formats.exactRupiah(record.unbilledCost)}</Fact>
        )}
      </dl>
      {above === undefined ? null : (
        <p className="px-3 pb-3 text-xs text-muted">
          {messages.longContext} {formats.count(above)}.
        </p>
      )}
      {isNothing(record.lateCharge) ? null : <p className="px-3 pb-3 text-xs text-muted">{messages.lateAbout}</p>}
      {record.charge === record.cost ? null : <p className="px-3 pb-3 text-xs text-muted">{messages.notCharged}</p>}
    </section>
  );
}
