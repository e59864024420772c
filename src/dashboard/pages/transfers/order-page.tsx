// Ordering a transfer: typed, priced, confirmed, sent. What was sent before under the same external id is not sent again.

import { useMutation } from "@connectrpc/connect-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { MerchantService } from "#gen/saldo/merchant/v1/merchant_service_pb.ts";
import type { Quote, Transfer } from "#gen/saldo/merchant/v1/transfer_pb.ts";
import { useFormats } from "../../language/format.ts";
import { useWords } from "../../language/language.tsx";
import { amountOf, COINS } from "../../language/read-amount.ts";
import { AmountField } from "../../parts/amount-field.tsx";
import { Button, LinkButton } from "../../parts/button.tsx";
import { Card } from "../../parts/card.tsx";
import { TextField } from "../../parts/field.tsx";
import { useRefreshedBalances } from "./balances.tsx";
import { ConfirmDialog, type Order } from "./confirm-dialog.tsx";
import { CurrencyFields, FIRST_COIN } from "./currency-fields.tsx";
import { useMerchantHere } from "./merchant-here.tsx";
import { MERCHANT_WORDS } from "./merchant-words.ts";
import { ORDER_WORDS } from "./order-words.ts";
import { QuoteCard } from "./quote-card.tsx";
import { Refused } from "./refused.tsx";
import { askQuote } from "./use-quote.ts";

const MOST_CHARACTERS = 128;

/** The form, what it comes to, and the step before it is sent. */
export function OrderPage() {
  const { merchantId, environment } = useMerchantHere();
  const navigate = useNavigate();
  const refreshBalances = useRefreshedBalances();
  const [order, setOrder] = useState<Order>(newOrder);
  const [confirmed, setConfirmed] = useState<Quote | null>(null);
  const [known, setKnown] = useState<Transfer | null>(null);
  const { mutate, error, isPending, reset } = useMutation(MerchantService.method.createMerchantTransfer, {
    onSuccess: ({ transfer, replayed }) => {
      refreshBalances();
      setConfirmed(null);
      if (transfer === undefined) return;
      if (replayed) setKnown(transfer);
      else
        void navigate({
          to: "/transfers/$environment/$transferId",
          params: { environment, transferId: transfer.id },
        });
    },
  });
  if (known !== null)
    return (
      <Known
        transfer={known}
        onAnother={() => {
          setOrder(newOrder());
          setKnown(null);
        }}
      />
    );
  return (
    <div className="grid items-start gap-4 lg:grid-cols-[minmax(0,1fr)_22rem]">
      <OrderForm order={order} onChange={setOrder} onPriced={setConfirmed} />
      <QuoteCard
        priced={{ merchantId, currencyCode: order.currencyCode, network: order.network, amount: amountOfOrder(order) }}
      />
      <ConfirmDialog
        order={order}
        quote={confirmed}
        error={error}
        isBusy={isPending}
        onClose={() => {
          reset();
          setConfirmed(null);
        }}
        onSend={() => mutate({ merchantId, order: { ...order, amount: amountOfOrder(order) } })}
      />
    </div>
  );
}

/** The decimal that the typed amount means. Empty: it means none. */
function amountOfOrder({ amount }: Order): string {
  return amountOf(amount, COINS) ?? "";
}

function newOrder(): Order {
  return { ...FIRST_COIN, amount: "", address: "", externalId: `dashboard-${crypto.randomUUID().slice(0, 8)}` };
}

function Known({ transfer, onAnother }: { readonly transfer: Transfer; readonly onAnother: () => void }) {
  const words = useWords(ORDER_WORDS);
  const { environment } = useMerchantHere();
  return (
    <Card title={words.known}>
      <div role="status" className="flex flex-col items-start gap-3">
        <p>{words.knownAbout}</p>
        <code className="font-mono break-all">{transfer.externalId}</code>
        <div className="flex flex-wrap gap-2">
          <LinkButton
            look="action"
            to="/transfers/$environment/$transferId"
            params={{ environment, transferId: transfer.id }}
          >
            {words.openKnown}
          </LinkButton>
          <Button onClick={onAnother}>{words.another}</Button>
        </div>
      </div>
    </Card>
  );
}

type FormProps = {
  readonly order: Order;
  readonly onChange: (order: Order) => void;
  readonly onPriced: (quote: Quote) => void;
};

function OrderForm({ order, onChange, onPriced }: FormProps) {
  const words = { ...useWords(MERCHANT_WORDS), ...useWords(ORDER_WORDS) };
  const formats = useFormats();
  const { merchantId } = useMerchantHere();
  const [isTried, setTried] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const problems = problemsOf(order);
  const problem = (name: keyof typeof problems) =>
    isTried && problems[name] !== null ? { problem: words[problems[name]] } : {};
  const price = async (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    setError(null);
    if (amountOfOrder(order) === "" || Object.values(problems).some((wrong) => wrong !== null)) return;
    setBusy(true);
    try {
      const { currencyCode, network, address } = order;
      const quote = await askQuote({ merchantId, currencyCode, network, address, amount: amountOfOrder(order) });
      if (quote !== undefined) onPriced(quote);
    } catch (refusal) {
      setError(refusal);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Card>
      <form noValidate onSubmit={(event) => void price(event)} className="flex flex-col gap-4">
        <CurrencyFields value={order} onChange={(coin) => onChange({ ...order, ...coin })} />
        <AmountField
          label={words.receivedAmount}
          hint={words.amountHint}
          rules={COINS}
          written={(amount) => formats.coins(amount, order.currencyCode)}
          required
          isTried={isTried}
          value={order.amount}
          onChange={(amount) => onChange({ ...order, amount })}
        />
        <TextField
          label={words.address}
          {...problem("address")}
          autoComplete="off"
          spellCheck={false}
          maxLength={MOST_CHARACTERS}
          value={order.address}
          onChange={({ target }) => onChange({ ...order, address: target.value.trim() })}
        />
        <TextField
          label={words.externalId}
          hint={words.externalIdHint}
          {...problem("externalId")}
          autoComplete="off"
          spellCheck={false}
          maxLength={MOST_CHARACTERS}
          value={order.externalId}
          onChange={({ target }) => onChange({ ...order, externalId: target.value })}
        />
        {error === null ? null : <Refused error={error} />}
        <Button type="submit" look="action" busy={isBusy} className="self-start">
          {words.check}
        </Button>
        <Magic />
      </form>
    </Card>
  );
}

/** What can be told before anything is sent; the rest is the server's to say. */
function problemsOf({ address, externalId }: Order) {
  return {
    address: address === "" ? ("addressMissing" as const) : null,
    externalId: externalId === "" ? ("externalIdMissing" as const) : null,
  };
}

function Magic() {
  const words = useWords(ORDER_WORDS);
  const { environment } = useMerchantHere();
  if (environment !== "sandbox") return null;
  return (
    <details className="text-muted">
      <summary className="py-1 text-[0.8125rem] font-medium text-ink">{words.magic}</summary>
      <p className="mt-1">{words.magicAbout}</p>
    </details>
  );
}
