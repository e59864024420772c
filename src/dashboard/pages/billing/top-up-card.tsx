// Buying balance: an amount, then the payment and its progress.

import { timestampDate } from "@bufbuild/protobuf/wkt";
import { useMutation, useQuery, createConnectQueryKey } from "@connectrpc/connect-query";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { CircleCheck, ExternalLink } from "lucide-react";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { AutoTopUpService } from "#gen/saldo/billing/v1/auto_top_up_service_pb.ts";
import { BillingService } from "#gen/saldo/billing/v1/billing_service_pb.ts";
import { ReceiptService } from "#gen/saldo/billing/v1/receipt_service_pb.ts";
import { type TopUp, TopUpState } from "#gen/saldo/billing/v1/top_up_pb.ts";
import { isNotThere } from "../../api/transport.ts";
import { useFormats } from "../../i18n/format.ts";
import { useLanguage, useMessages } from "../../i18n/language.tsx";
import { amountOf, WHOLE_RUPIAH } from "../../i18n/read-amount.ts";
import { AmountField } from "../../components/amount-field.tsx";
import { Button, buttonClass } from "../../components/button.tsx";
import { Card } from "../../components/card.tsx";
import { useNotify } from "../../components/notices.tsx";
import { Empty, Failed, Skeleton } from "../../components/states.tsx";
import { BILLING_MESSAGES } from "./billing-messages.ts";
import { RECEIPT_MESSAGES } from "./receipt-messages.ts";
import { openPaymentTab } from "./payment-tab.ts";
import { taxedAmount } from "./taxed-amount.ts";
import { isAwaited, isPayable, isSettled } from "./top-up-stages.ts";
import { TopUpBadge, useStateAbout } from "./top-up-states.tsx";
import { useTopUp } from "./use-top-up.ts";

const PRESETS = ["10000", "25000", "50000", "100000", "250000"] as const;
/** The least amount until the terms of tax are known, and where no tax is in it. */
const LEAST = "10000";
const MOST = "1000000000";

/** The form, or the payment that the address names. Another payment starts without the state of the one before. */
export function TopUpCard() {
  const messages = useMessages(BILLING_MESSAGES);
  const { topUp } = useSearch({ from: "/inside/billing" });
  return (
    <Card title={messages.topUp}>
      {topUp === undefined ? <TopUpForm /> : <TopUpProgress key={topUp} topUpId={topUp} />}
    </Card>
  );
}

function TopUpForm() {
  const messages = useMessages(BILLING_MESSAGES);
  const formats = useFormats();
  const notify = useNotify();
  const navigate = useNavigate();
  const [typed, setTyped] = useState<string>(PRESETS[1]);
  const [isTried, setTried] = useState(false);
  // One idempotency key for one purchase: pressing twice, or again after a lost answer, opens one payment.
  const purchase = useRef(crypto.randomUUID());
  const { mutateAsync, isPending } = useMutation(BillingService.method.createTopUp);
  const choose = (text: string) => {
    purchase.current = crypto.randomUUID();
    setTried(false);
    setTyped(text);
  };
  const least = useQuery(ReceiptService.method.getTaxTerms, {}).data?.leastAmount || LEAST;
  const presets = [least, ...PRESETS.filter((preset) => BigInt(preset) > BigInt(least))];
  const limit = (amount: string) => {
    if (BigInt(amount) < BigInt(least)) return messages.tooSmall(formats.rupiah(least));
    return BigInt(amount) > BigInt(MOST) ? messages.tooLarge(formats.rupiah(MOST)) : null;
  };
  const open = async (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    const amount = amountOf(typed, WHOLE_RUPIAH);
    if (amount === null || limit(amount) !== null) return;
    const tab = openPaymentTab(messages.opening);
    try {
      const { topUp } = await mutateAsync({ amount, idempotencyKey: purchase.current });
      tab.lead(topUp?.paymentUrl ?? "");
      if (topUp !== undefined) await navigate({ to: "/billing", search: { topUp: topUp.id } });
    } catch {
      tab.close();
      notify(messages.couldNotOpen);
    }
  };
  return (
    <form onSubmit={(event) => void open(event)} noValidate className="flex flex-col gap-4">
      <div role="group" aria-label={messages.amount} className="flex flex-wrap gap-2">
        {presets.map((preset) => (
          <Button
            key={preset}
            aria-pressed={typed === preset}
            onClick={() => choose(preset)}
            className="aria-pressed:border-action aria-pressed:bg-good-soft"
          >
            {formats.rupiah(preset)}
          </Button>
        ))}
      </div>
      <AmountField
        label={messages.own}
        hint={messages.ownHint(formats.rupiah(least))}
        rules={WHOLE_RUPIAH}
        limit={limit}
        required
        isTried={isTried}
        value={typed}
        onChange={choose}
        className="max-w-72"
      />
      <TaxTerms amount={amountOf(typed, WHOLE_RUPIAH)} />
      <Button type="submit" variant="action" busy={isPending} className="self-start">
        {messages.pay}
      </Button>
    </form>
  );
}

/** What is added to the amount, or in it, and by how much the balance rises. Nothing where no tax is charged. */
function TaxTerms({ amount }: { readonly amount: string | null }) {
  const messages = useMessages(RECEIPT_MESSAGES);
  const formats = useFormats();
  const { data } = useQuery(ReceiptService.method.getTaxTerms, {});
  const { language } = useLanguage();
  if (data === undefined || data.percent === "0") return null;
  const percent = language === "id" ? data.percent.replace(".", ",") : data.percent;
  const parts = amount === null ? null : taxedAmount(amount, data);
  return (
    <div className="text-muted">
      <p>{data.included ? messages.taxIncluded(percent) : messages.taxAdded(percent)}</p>
      {parts === null ? null : (
        <p aria-live="polite">
          {messages.toPay(formats.rupiah(parts.total), formats.rupiah(parts.tax))}{" "}
          <strong className="font-semibold text-ink">{messages.balanceRises(formats.rupiah(parts.net))}</strong>
        </p>
      )}
    </div>
  );
}

function TopUpProgress({ topUpId }: { readonly topUpId: string }) {
  const messages = useMessages(BILLING_MESSAGES);
  const formats = useFormats();
  const navigate = useNavigate();
  const taxed = useMessages(RECEIPT_MESSAGES);
  const { topUp, error, refetch } = useTopUp(topUpId);
  useRefreshedMoney(topUp);
  const another = (variant: "action" | "plain") => (
    <Button variant={variant} onClick={() => void navigate({ to: "/billing", search: {} })}>
      {messages.another}
    </Button>
  );
  if (error !== null) {
    return isNotThere(error) ? (
      <Empty title={messages.gone} action={another("action")}>
        {messages.goneAbout}
      </Empty>
    ) : (
      <Failed error={error} retry={refetch} />
    );
  }
  if (topUp === null) return <Skeleton className="h-28 w-full" />;
  return (
    <div className="flex flex-col items-start gap-3" aria-live="polite">
      <div className="flex flex-wrap items-center gap-3">
        <span className="digits text-2xl font-semibold">{formats.rupiah(topUp.amount)}</span>
        <TopUpBadge state={topUp.state} />
      </div>
      {topUp.tax === "0" || topUp.tax === "" ? null : (
        <p className="text-muted">{taxed.withTax(formats.rupiah(topUp.total), formats.rupiah(topUp.tax))}</p>
      )}
      {topUp.automatic ? <p className="text-muted">{messages.automaticAbout}</p> : null}
      <StateAbout topUp={topUp} />
      <div className="flex flex-wrap gap-2">
        {isPayable(topUp.state) && topUp.paymentUrl !== "" ? (
          <a href={topUp.paymentUrl} target="_blank" rel="noreferrer" className={buttonClass("action")}>
            <ExternalLink aria-hidden />
            {messages.openPayment}
          </a>
        ) : null}
        {isSettled(topUp.state) ? null : <Button onClick={refetch}>{messages.checkAgain}</Button>}
        {another(isAwaited(topUp.state) ? "plain" : "action")}
      </div>
    </div>
  );
}

/** The result. Only money that arrived and was not taken back is shown as a success. */
function StateAbout({ topUp: { state, expiresAt } }: { readonly topUp: TopUp }) {
  const messages = useMessages(BILLING_MESSAGES);
  const formats = useFormats();
  const about = useStateAbout(state);
  if (state === TopUpState.PAID) {
    return (
      <p className="flex items-center gap-2 font-medium text-good">
        <CircleCheck className="size-4" aria-hidden />
        {about}
      </p>
    );
  }
  const until = isPayable(state) && expiresAt !== undefined ? formats.time(timestampDate(expiresAt)) : null;
  return (
    <p className="text-muted">
      {about} {until === null ? "" : messages.payUntil(until)}
    </p>
  );
}

/** When the state changes, all queries about money are fetched again. */
function useRefreshedMoney(topUp: TopUp | null): void {
  const queries = useQueryClient();
  const state = topUp?.state;
  useEffect(() => {
    if (state === undefined) return;
    for (const schema of [BillingService, AutoTopUpService])
      void queries.invalidateQueries({ queryKey: createConnectQueryKey({ schema, cardinality: undefined }) });
  }, [queries, state]);
}
