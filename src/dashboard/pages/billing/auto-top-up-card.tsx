// Automatic top-ups: the saved payment method, and when it is charged.

import { createConnectQueryKey, useMutation, useQuery } from "@connectrpc/connect-query";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import type { AutoTopUp } from "#gen/saldo/billing/v1/auto_top_up_pb.ts";
import { AutoTopUpService } from "#gen/saldo/billing/v1/auto_top_up_service_pb.ts";
import { ReceiptService } from "#gen/saldo/billing/v1/receipt_service_pb.ts";
import { factsOf } from "../../api/transport.ts";
import { AmountField } from "../../components/amount-field.tsx";
import { Button } from "../../components/button.tsx";
import { Card } from "../../components/card.tsx";
import { useNotify } from "../../components/notices.tsx";
import { Failed, SkeletonLines } from "../../components/states.tsx";
import { useFormats } from "../../i18n/format.ts";
import { useMessages } from "../../i18n/language.tsx";
import { amountOf, asTyped, WHOLE_RUPIAH } from "../../i18n/read-amount.ts";
import { NotSaved } from "../settings/not-saved.tsx";
import { AUTO_TOP_UP_MESSAGES } from "./auto-top-up-messages.ts";
import { type TaxedAmount, taxedAmount } from "./taxed-amount.ts";

/** The bounds of the service, in rupiah. */
const LEAST = 50_000n;
const MOST = 1_000_000_000n;
/** What is paid to save a method, in rupiah. */
const SAVES_WITH = "50000";
/** What a form begins with, in rupiah. */
const FIRST = { isOn: false, threshold: "50000", amount: "100000", monthlyCap: "1000000" };

/** The card. A payment provider that saves no methods has none. */
export function AutoTopUpCard() {
  const messages = useMessages(AUTO_TOP_UP_MESSAGES);
  const { data, error, refetch } = useQuery(AutoTopUpService.method.getAutoTopUp, {});
  const known = data?.autoTopUp;
  if (known !== undefined && !known.canSave && known.method === undefined) return null;
  return (
    <Card title={messages.title}>
      <p className="pb-3 text-muted">{messages.about}</p>
      {error !== null && known === undefined ? <Failed error={error} retry={() => void refetch()} /> : null}
      {known === undefined && error === null ? <SkeletonLines lines={4} /> : null}
      {known === undefined ? null : (
        <div className="flex flex-col gap-5">
          {known.pausedAt === undefined ? null : (
            <p role="status" className="rounded-lg bg-bad-soft px-3 py-2 text-bad">
              {messages.paused}
            </p>
          )}
          <Method known={known} />
          <SettingsForm key={JSON.stringify(known.settings ?? null)} known={known} />
        </div>
      )}
    </Card>
  );
}

function Method({ known }: { readonly known: AutoTopUp }) {
  const messages = useMessages(AUTO_TOP_UP_MESSAGES);
  const formats = useFormats();
  const notify = useNotify();
  const refresh = useRefresh();
  const [idempotencyKey] = useState(() => crypto.randomUUID());
  const saving = useMutation(AutoTopUpService.method.savePaymentMethod, {
    // Where another call is still opening the provider's page, the top-up's own page waits for it.
    onSuccess: ({ topUp }) => window.location.assign(topUp?.paymentUrl || `/billing?topUp=${topUp?.id ?? ""}`),
  });
  const removing = useMutation(AutoTopUpService.method.removePaymentMethod, {
    onSuccess: () => {
      notify(messages.removed);
      refresh();
    },
  });
  const isSaved = known.method !== undefined;
  const { net, tax, total } = useTaxed().taxed(SAVES_WITH);
  const [price, parts] = [formats.rupiah(total), [formats.rupiah(net), formats.rupiah(tax)] as const];
  const paid = tax === "0" ? price : messages.withTax(price, ...parts);
  return (
    <section className="flex flex-col gap-2">
      <h3 className="text-[0.8125rem] font-medium">{messages.method}</h3>
      <p>{known.method?.label ?? messages.none}</p>
      {known.canSave ? <p className="text-xs text-muted">{messages.saveAbout(paid)}</p> : null}
      <NotSaved error={saving.error ?? removing.error} />
      <div className="flex flex-wrap gap-2">
        {known.canSave ? (
          <Button busy={saving.isPending} onClick={() => saving.mutate({ amount: SAVES_WITH, idempotencyKey })}>
            {isSaved ? messages.replaceMethod : messages.saveMethod}
          </Button>
        ) : null}
        {isSaved ? (
          <Button variant="quiet" busy={removing.isPending} onClick={() => removing.mutate({})}>
            {messages.removeMethod}
          </Button>
        ) : null}
      </div>
    </section>
  );
}

function SettingsForm({ known }: { readonly known: AutoTopUp }) {
  const messages = useMessages(AUTO_TOP_UP_MESSAGES);
  const formats = useFormats();
  const notify = useNotify();
  const refresh = useRefresh();
  const saved = known.settings ?? FIRST;
  const [isOn, setOn] = useState(saved.isOn);
  const [threshold, setThreshold] = useState(asTyped(saved.threshold));
  const [amount, setAmount] = useState(asTyped(saved.amount));
  const [cap, setCap] = useState(asTyped(saved.monthlyCap));
  const [isTried, setTried] = useState(false);
  const { taxed, refetch } = useTaxed();
  const { mutate, error, isPending } = useMutation(AutoTopUpService.method.updateAutoTopUp, {
    onSuccess: () => {
      notify(messages.saved);
      refresh();
    },
    // The tax is another one than this page knows: with the new one the field itself shows what is wrong.
    onError: (refused) => (isBelowOneCharge(refused) ? refetch() : undefined),
  });
  const bounds = (least: bigint) => (text: string) => {
    if (BigInt(text) < least) return messages.atLeast(formats.rupiah(String(least)));
    return BigInt(text) > MOST ? messages.atMost(formats.rupiah(String(MOST))) : null;
  };
  const ordered = amountOf(amount, WHOLE_RUPIAH);
  const each = ordered === null ? null : taxed(ordered);
  const capLimit = (text: string) =>
    each !== null && BigInt(text) < BigInt(each.total)
      ? messages.belowAmount(formats.rupiah(each.total))
      : bounds(LEAST)(text);
  const limited = amountOf(cap, WHOLE_RUPIAH);
  const isCapShown = isTried && limited !== null && capLimit(limited) !== null;
  const save = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    const [low, most] = [amountOf(threshold, WHOLE_RUPIAH), amountOf(cap, WHOLE_RUPIAH)];
    if (low === null || ordered === null || most === null) return;
    if (bounds(1n)(low) !== null || bounds(LEAST)(ordered) !== null || capLimit(most) !== null) return;
    mutate({ settings: { isOn, threshold: low, amount: ordered, monthlyCap: most } });
  };
  const fields = { rules: WHOLE_RUPIAH, isTried };
  const hasMethod = known.method !== undefined;
  return (
    <form noValidate onSubmit={save} className="flex flex-col gap-4">
      <div className="grid gap-4 md:grid-cols-3">
        <AmountField
          {...fields}
          label={messages.threshold}
          hint={messages.thresholdHint}
          limit={bounds(1n)}
          value={threshold}
          onChange={setThreshold}
        />
        <AmountField
          {...fields}
          label={messages.amount}
          hint={
            each === null || each.tax === "0"
              ? undefined
              : messages.amountHint(formats.rupiah(each.total), formats.rupiah(each.net))
          }
          limit={bounds(LEAST)}
          value={amount}
          onChange={setAmount}
        />
        <AmountField
          {...fields}
          label={messages.cap}
          hint={messages.capHint(formats.rupiah(known.charged))}
          limit={capLimit}
          value={cap}
          onChange={setCap}
        />
      </div>
      <label className="inline-flex min-h-6 items-center gap-2">
        <input
          type="checkbox"
          checked={isOn}
          disabled={!hasMethod}
          onChange={({ target }) => setOn(target.checked)}
          className="size-4 shrink-0 accent-[var(--action)]"
        />
        {messages.isOn}
      </label>
      {hasMethod ? null : <p className="text-xs text-muted">{messages.needsMethod}</p>}
      <NotSaved error={isCapShown ? null : error} />
      <Button type="submit" busy={isPending} className="self-start">
        {messages.save}
      </Button>
    </form>
  );
}

/** Whether the service refused a cap that is below one charge. */
function isBelowOneCharge(error: unknown): boolean {
  return error !== null && (factsOf(error)?.details.some(({ rule }) => rule === "auto_top_up.monthlyCap") ?? false);
}

/** What an order of whole rupiah is charged by the tax of today. */
function useTaxed(): { taxed: (ordered: string) => TaxedAmount; refetch: () => void } {
  const { data, refetch } = useQuery(ReceiptService.method.getTaxTerms, {});
  return { taxed: (ordered) => taxedAmount(ordered, data ?? null), refetch: () => void refetch() };
}

function useRefresh(): () => void {
  const queries = useQueryClient();
  return () =>
    void queries.invalidateQueries({
      queryKey: createConnectQueryKey({ schema: AutoTopUpService.method.getAutoTopUp, cardinality: "finite" }),
    });
}
