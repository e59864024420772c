// The mail that is sent when the balance runs low.

import { timestampDate } from "@bufbuild/protobuf/wkt";
import { createConnectQueryKey, useMutation, useQuery } from "@connectrpc/connect-query";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { BillingService } from "#gen/saldo/billing/v1/billing_service_pb.ts";
import type { LowBalanceAlert } from "#gen/saldo/billing/v1/low_balance_alert_pb.ts";
import { type Decimal, useFormats } from "../../i18n/format.ts";
import { useMessages } from "../../i18n/language.tsx";
import { amountOf, asTyped, WHOLE_RUPIAH } from "../../i18n/read-amount.ts";
import { AmountField } from "../../components/amount-field.tsx";
import { Badge } from "../../components/badge.tsx";
import { Button } from "../../components/button.tsx";
import { Card } from "../../components/card.tsx";
import { useNotify } from "../../components/notices.tsx";
import { Failed, SkeletonLines } from "../../components/states.tsx";
import { NotSaved } from "./not-saved.tsx";
import { SETTINGS_MESSAGES } from "./settings-messages.ts";

/** The threshold, and whether the balance is below it. */
export function LowBalanceCard() {
  const messages = useMessages(SETTINGS_MESSAGES);
  const { data, error, refetch } = useQuery(BillingService.method.getLowBalanceAlert, {});
  const alert = data?.alert;
  return (
    <Card title={messages.alert} aside={alert === undefined ? null : <AlertBadge alert={alert} />}>
      <p className="pb-3 text-muted">{messages.alertAbout}</p>
      {error !== null && alert === undefined ? <Failed error={error} retry={() => void refetch()} /> : null}
      {alert === undefined && error === null ? <SkeletonLines lines={2} /> : null}
      {alert === undefined ? null : <AlertForm key={alert.threshold} alert={alert} />}
    </Card>
  );
}

function AlertBadge({ alert }: { readonly alert: LowBalanceAlert }) {
  const messages = useMessages(SETTINGS_MESSAGES);
  if (alert.threshold === "") return <Badge>{messages.alertOff}</Badge>;
  return alert.isBelow ? (
    <Badge tone="warn">{messages.alertBelow}</Badge>
  ) : (
    <Badge tone="good">{messages.alertOn}</Badge>
  );
}

function AlertForm({ alert }: { readonly alert: LowBalanceAlert }) {
  const messages = useMessages(SETTINGS_MESSAGES);
  const formats = useFormats();
  const notify = useNotify();
  const queries = useQueryClient();
  const [threshold, setThreshold] = useState(asTyped(alert.threshold));
  const [isTried, setTried] = useState(false);
  const { mutate, error, isPending } = useMutation(BillingService.method.setLowBalanceAlert, {
    onSuccess: () => {
      notify(messages.saved);
      void queries.invalidateQueries({
        queryKey: createConnectQueryKey({ schema: BillingService.method.getLowBalanceAlert, cardinality: "finite" }),
      });
    },
  });
  const save = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    const amount = threshold.trim() === "" ? "" : thresholdOf(threshold);
    if (amount !== null) mutate({ threshold: amount });
  };
  return (
    <form noValidate onSubmit={save} className="flex flex-col gap-4">
      <AmountField
        label={messages.threshold}
        hint={messages.thresholdHint}
        rules={WHOLE_RUPIAH}
        limit={(amount) => (isTooMuch(amount) ? messages.thresholdTooMuch(formats.rupiah(String(MOST))) : null)}
        isTried={isTried}
        value={threshold}
        onChange={setThreshold}
      />
      {alert.notifiedAt === undefined ? null : (
        <p className="text-xs text-muted">
          {messages.lastMail}: {formats.time(timestampDate(alert.notifiedAt))}
        </p>
      )}
      <NotSaved error={error} />
      <Button type="submit" busy={isPending} className="self-start">
        {messages.save}
      </Button>
    </form>
  );
}

/** The maximum of the contract. */
const MOST = 1_000_000_000_000n;

function thresholdOf(typed: string): Decimal | null {
  const amount = amountOf(typed, WHOLE_RUPIAH);
  return amount === null || isTooMuch(amount) ? null : amount;
}

function isTooMuch(wholeRupiah: Decimal): boolean {
  return BigInt(wholeRupiah) > MOST;
}
