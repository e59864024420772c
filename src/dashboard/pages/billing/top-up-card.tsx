// Buying balance: an amount, then the payment as it goes.

import { useMutation, createConnectQueryKey } from "@connectrpc/connect-query";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { CircleCheck, ExternalLink } from "lucide-react";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { BillingService } from "#gen/saldo/billing/v1/billing_service_pb.ts";
import type { TopUp } from "#gen/saldo/billing/v1/top_up_pb.ts";
import { isNotThere } from "../../api/transport.ts";
import { useFormats } from "../../language/format.ts";
import { useWords } from "../../language/language.tsx";
import { Button, buttonClass } from "../../parts/button.tsx";
import { Card } from "../../parts/card.tsx";
import { TextField } from "../../parts/field.tsx";
import { useNotify } from "../../parts/notices.tsx";
import { Empty, Failed, Skeleton } from "../../parts/states.tsx";
import { BILLING_WORDS } from "./billing-words.ts";
import { isPayable, isSettled, TopUpBadge } from "./top-up-states.tsx";
import { useTopUp } from "./use-top-up.ts";

const PRESETS = ["10000", "25000", "50000", "100000", "250000"] as const;
const LEAST = 10_000n;
const MOST = 1_000_000_000n;

/** The form, or the payment that the address names. */
export function TopUpCard() {
  const words = useWords(BILLING_WORDS);
  const { topUp } = useSearch({ from: "/inside/billing" });
  return <Card title={words.topUp}>{topUp === undefined ? <TopUpForm /> : <TopUpProgress topUpId={topUp} />}</Card>;
}

function TopUpForm() {
  const words = useWords(BILLING_WORDS);
  const formats = useFormats();
  const notify = useNotify();
  const navigate = useNavigate();
  const [amount, setAmount] = useState<string>(PRESETS[1]);
  const [problem, setProblem] = useState<string | null>(null);
  // One name for one purchase: pressing twice, or again after a lost answer, opens one payment.
  const purchase = useRef(crypto.randomUUID());
  const { mutateAsync, isPending } = useMutation(BillingService.method.createTopUp);
  const choose = (text: string) => {
    purchase.current = crypto.randomUUID();
    setProblem(null);
    setAmount(text);
  };
  const open = async (event: FormEvent) => {
    event.preventDefault();
    const wrong = problemOf(amount);
    setProblem(wrong === null ? null : words[wrong]);
    if (wrong !== null) return;
    try {
      const { topUp } = await mutateAsync({ amount, idempotencyKey: purchase.current });
      if (topUp !== undefined) await navigate({ to: "/billing", search: { topUp: topUp.id } });
    } catch {
      notify(words.couldNotOpen);
    }
  };
  return (
    <form onSubmit={(event) => void open(event)} noValidate className="flex flex-col gap-4">
      <div role="group" aria-label={words.amount} className="flex flex-wrap gap-2">
        {PRESETS.map((preset) => (
          <Button
            key={preset}
            aria-pressed={amount === preset}
            onClick={() => choose(preset)}
            className="aria-pressed:border-action aria-pressed:bg-good-soft"
          >
            {formats.rupiah(preset)}
          </Button>
        ))}
      </div>
      <TextField
        label={words.own}
        hint={words.ownHint}
        {...(problem === null ? {} : { problem })}
        inputMode="numeric"
        value={amount}
        onChange={(event) => choose(event.target.value)}
        className="max-w-60"
      />
      <Button type="submit" look="action" busy={isPending} className="self-start">
        {words.pay}
      </Button>
    </form>
  );
}

/** What the server would refuse anyway, told before it is sent. */
function problemOf(amount: string): "tooSmall" | "tooLarge" | "notWhole" | null {
  if (!/^\d{1,12}$/.test(amount)) return "notWhole";
  const rupiah = BigInt(amount);
  if (rupiah < LEAST) return "tooSmall";
  return rupiah > MOST ? "tooLarge" : null;
}

function TopUpProgress({ topUpId }: { readonly topUpId: string }) {
  const words = useWords(BILLING_WORDS);
  const formats = useFormats();
  const navigate = useNavigate();
  const { topUp, error, refetch } = useTopUp(topUpId);
  useRefreshedMoney(topUp);
  const another = (look: "action" | "plain") => (
    <Button look={look} onClick={() => void navigate({ to: "/billing", search: {} })}>
      {words.another}
    </Button>
  );
  if (error !== null) {
    return isNotThere(error) ? (
      <Empty title={words.gone} action={another("action")}>
        {words.goneAbout}
      </Empty>
    ) : (
      <Failed error={error} retry={refetch} />
    );
  }
  if (topUp === null) return <Skeleton className="h-28 w-full" />;
  const settled = isSettled(topUp.state);
  return (
    <div className="flex flex-col items-start gap-3" aria-live="polite">
      <div className="flex flex-wrap items-center gap-3">
        <span className="digits text-2xl font-semibold">{formats.rupiah(topUp.amount)}</span>
        <TopUpBadge state={topUp.state} />
      </div>
      {settled ? (
        <p className="flex items-center gap-2 font-medium text-good">
          <CircleCheck className="size-4" aria-hidden />
          {words.credited}
        </p>
      ) : (
        <p className="text-muted">{words.waitingAbout}</p>
      )}
      <div className="flex flex-wrap gap-2">
        {isPayable(topUp.state) && topUp.paymentUrl !== "" ? (
          <a href={topUp.paymentUrl} target="_blank" rel="noreferrer" className={buttonClass("action")}>
            <ExternalLink aria-hidden />
            {words.openPayment}
          </a>
        ) : null}
        {settled ? null : <Button onClick={refetch}>{words.checkAgain}</Button>}
        {another(settled ? "action" : "plain")}
      </div>
    </div>
  );
}

/** When the state changes, everything that shows money is asked for again. */
function useRefreshedMoney(topUp: TopUp | null): void {
  const queries = useQueryClient();
  const state = topUp?.state;
  useEffect(() => {
    if (state === undefined) return;
    void queries.invalidateQueries({
      queryKey: createConnectQueryKey({ schema: BillingService, cardinality: undefined }),
    });
  }, [queries, state]);
}
