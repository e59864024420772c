import { isMore } from "../../i18n/decimal.ts";
import { UNKNOWN, useFormats } from "../../i18n/format.ts";
import { useMessages } from "../../i18n/language.tsx";
import { Card } from "../../components/card.tsx";
import type { Quote } from "#gen/saldo/merchant/v1/transfer_pb.ts";
import { useAvailable } from "./balances.tsx";
import { ORDER_MESSAGES } from "./order-messages.ts";
import { Refused } from "../../components/refused.tsx";
import { type Priced, useQuote } from "./use-quote.ts";

/** The quote of the typed amount, while it is typed. */
export function QuoteCard({ priced }: { readonly priced: Priced }) {
  const messages = useMessages(ORDER_MESSAGES);
  const { quote, error, isCurrent } = useQuote(priced);
  return (
    <Card title={messages.price}>
      <div aria-live="polite" aria-busy={!isCurrent}>
        {quote === undefined && error === null ? <p className="text-muted">{messages.priceAbout}</p> : null}
        {error === null ? null : <Refused error={error} />}
        {quote === undefined || error !== null ? null : (
          <div className={isCurrent ? "" : "opacity-60"}>
            <QuoteLines quote={quote} />
          </div>
        )}
      </div>
    </Card>
  );
}

/** The received amount, the fee and the total, with all digits, and the available balance. */
export function QuoteLines({ quote }: { readonly quote: Quote }) {
  const messages = useMessages(ORDER_MESSAGES);
  const formats = useFormats();
  const available = useAvailable(quote.currencyCode);
  const coins = (amount: string) => formats.coins(amount, quote.currencyCode);
  return (
    <dl className="digits flex flex-col gap-2">
      <Line name={messages.received} amount={coins(quote.receivedAmount)} />
      <Line name={messages.fee} amount={`+ ${coins(quote.fee)}`} />
      <Line
        name={messages.total}
        amount={coins(quote.totalAmount)}
        variant="border-t border-line pt-2 text-base font-semibold"
      />
      <Line
        name={messages.available}
        amount={available === undefined ? UNKNOWN : coins(available)}
        variant="text-xs text-muted"
      />
      {available === undefined || !isMore(quote.totalAmount, available) ? null : (
        <div className="rounded-lg bg-warn-soft px-3 py-2 text-warn">
          <dt className="font-medium">{messages.tooLittle}</dt>
          <dd className="text-xs">{messages.tooLittleAbout}</dd>
        </div>
      )}
    </dl>
  );
}

type LineProps = { readonly name: string; readonly amount: string; readonly variant?: string };

function Line({ name, amount, variant = "" }: LineProps) {
  return (
    <div className={`flex flex-wrap items-baseline justify-between gap-x-4 ${variant}`}>
      <dt>{name}</dt>
      <dd className="break-all">{amount}</dd>
    </div>
  );
}
