// The form of an order. It requests a quote of its values and passes both on together.

import { type FormEvent, useState } from "react";
import { useFormats } from "../../i18n/format.ts";
import { useMessages } from "../../i18n/language.tsx";
import { COINS } from "../../i18n/read-amount.ts";
import { AmountField } from "../../components/amount-field.tsx";
import { Button } from "../../components/button.tsx";
import { Card } from "../../components/card.tsx";
import { TextField } from "../../components/field.tsx";
import { CurrencyFields } from "./currency-fields.tsx";
import { useMerchantHere } from "./merchant-here.tsx";
import { MERCHANT_MESSAGES } from "./merchant-messages.ts";
import { amountOfOrder, type Order, type PricedOrder } from "./order.ts";
import { ORDER_MESSAGES } from "./order-messages.ts";
import { Refused } from "../../components/refused.tsx";
import { askQuote } from "./use-quote.ts";

const MOST_CHARACTERS = 128;

type FormProps = {
  readonly order: Order;
  readonly onChange: (order: Order) => void;
  readonly onPriced: (priced: PricedOrder) => void;
};

/** The currency and amount, the address, and the external id. */
export function OrderForm({ order, onChange, onPriced }: FormProps) {
  const messages = { ...useMessages(MERCHANT_MESSAGES), ...useMessages(ORDER_MESSAGES) };
  const formats = useFormats();
  const { price, isTried, isBusy, error } = usePricing(order, onPriced);
  return (
    <Card>
      <form noValidate onSubmit={(event) => void price(event)} className="flex flex-col gap-4">
        <CurrencyFields value={order} onChange={(coin) => onChange({ ...order, ...coin })} />
        <AmountField
          label={messages.receivedAmount}
          hint={messages.amountHint}
          rules={COINS}
          written={(amount) => formats.coins(amount, order.currencyCode)}
          required
          isTried={isTried}
          value={order.amount}
          onChange={(amount) => onChange({ ...order, amount })}
        />
        <DestinationFields order={order} onChange={onChange} isTried={isTried} />
        {error === null ? null : <Refused error={error} />}
        <Button type="submit" variant="action" busy={isBusy} className="self-start">
          {messages.check}
        </Button>
        <Magic />
      </form>
    </Card>
  );
}

/** Requests the quote of the order as it is when the form is sent; text typed meanwhile belongs to another order. */
function usePricing(order: Order, onPriced: (priced: PricedOrder) => void) {
  const { merchantId } = useMerchantHere();
  const [isTried, setTried] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const price = async (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    setError(null);
    if (amountOfOrder(order) === "" || Object.values(problemsOf(order)).some((wrong) => wrong !== null)) return;
    setBusy(true);
    try {
      const { currencyCode, network, address } = order;
      const quote = await askQuote({ merchantId, currencyCode, network, address, amount: amountOfOrder(order) });
      if (quote !== undefined) onPriced({ order, quote });
    } catch (refusal) {
      setError(refusal);
    } finally {
      setBusy(false);
    }
  };
  return { price, isTried, isBusy, error };
}

function DestinationFields({
  order,
  onChange,
  isTried,
}: Pick<FormProps, "order" | "onChange"> & { readonly isTried: boolean }) {
  const messages = useMessages(ORDER_MESSAGES);
  const problems = problemsOf(order);
  const problem = (name: keyof typeof problems) =>
    isTried && problems[name] !== null ? { problem: messages[problems[name]] } : {};
  return (
    <>
      <TextField
        label={messages.address}
        {...problem("address")}
        autoComplete="off"
        spellCheck={false}
        maxLength={MOST_CHARACTERS}
        value={order.address}
        onChange={({ target }) => onChange({ ...order, address: target.value.trim() })}
      />
      <TextField
        label={messages.externalId}
        hint={messages.externalIdHint}
        {...problem("externalId")}
        autoComplete="off"
        spellCheck={false}
        maxLength={MOST_CHARACTERS}
        value={order.externalId}
        onChange={({ target }) => onChange({ ...order, externalId: target.value })}
      />
    </>
  );
}

/** Problems that the page can find before sending; the server checks the rest. */
function problemsOf({ address, externalId }: Order) {
  return {
    address: address === "" ? ("addressMissing" as const) : null,
    externalId: externalId === "" ? ("externalIdMissing" as const) : null,
  };
}

function Magic() {
  const messages = useMessages(ORDER_MESSAGES);
  const { environment } = useMerchantHere();
  if (environment !== "sandbox") return null;
  return (
    <details className="text-muted">
      <summary className="py-1 text-[0.8125rem] font-medium text-ink">{messages.magic}</summary>
      <p className="mt-1">{messages.magicAbout}</p>
    </details>
  );
}
