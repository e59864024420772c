import { isMore } from "../../i18n/decimal.ts";
import { UNKNOWN, useFormats } from "../../i18n/format.ts";
import { useWords } from "../../i18n/language.tsx";
import { Card } from "../../components/card.tsx";
import type { Quote } from "#gen/saldo/merchant/v1/transfer_pb.ts";
import { useAvailable } from "./balances.tsx";
import { ORDER_WORDS } from "./order-words.ts";
import { Refused } from "./refused.tsx";
import { type Priced, useQuote } from "./use-quote.ts";

/** What the typed amount comes to, while it is typed. */
export function QuoteCard({ priced }: { readonly priced: Priced }) {
  const words = useWords(ORDER_WORDS);
  const { quote, error, isCurrent } = useQuote(priced);
  return (
    <Card title={words.price}>
      <div aria-live="polite" aria-busy={!isCurrent}>
        {quote === undefined && error === null ? <p className="text-muted">{words.priceAbout}</p> : null}
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

/** What is received, the fee and the total, with every digit, and what there is. */
export function QuoteLines({ quote }: { readonly quote: Quote }) {
  const words = useWords(ORDER_WORDS);
  const formats = useFormats();
  const available = useAvailable(quote.currencyCode);
  const coins = (amount: string) => formats.coins(amount, quote.currencyCode);
  return (
    <dl className="digits flex flex-col gap-2">
      <Line name={words.received} amount={coins(quote.receivedAmount)} />
      <Line name={words.fee} amount={`+ ${coins(quote.fee)}`} />
      <Line
        name={words.total}
        amount={coins(quote.totalAmount)}
        look="border-t border-line pt-2 text-base font-semibold"
      />
      <Line
        name={words.available}
        amount={available === undefined ? UNKNOWN : coins(available)}
        look="text-xs text-muted"
      />
      {available === undefined || !isMore(quote.totalAmount, available) ? null : (
        <div className="rounded-lg bg-warn-soft px-3 py-2 text-warn">
          <dt className="font-medium">{words.tooLittle}</dt>
          <dd className="text-xs">{words.tooLittleAbout}</dd>
        </div>
      )}
    </dl>
  );
}

type LineProps = { readonly name: string; readonly amount: string; readonly look?: string };

function Line({ name, amount, look = "" }: LineProps) {
  return (
    <div className={`flex flex-wrap items-baseline justify-between gap-x-4 ${look}`}>
      <dt>{name}</dt>
      <dd className="break-all">{amount}</dd>
    </div>
  );
}
