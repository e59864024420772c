import type { Quote } from "#gen/saldo/merchant/v1/transfer_pb.ts";
import { useFormats } from "../../language/format.ts";
import { useWords } from "../../language/language.tsx";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { networkName } from "./coins.ts";
import type { ChosenCoin } from "./currency-fields.tsx";
import { EnvironmentBadge } from "./environments.tsx";
import { useMerchantHere } from "./merchant-here.tsx";
import { ORDER_WORDS } from "./order-words.ts";
import { QuoteLines } from "./quote-card.tsx";
import { Refused } from "./refused.tsx";

/** What is ordered, as it is typed. */
export type Order = ChosenCoin & { readonly amount: string; readonly address: string; readonly externalId: string };

type ConfirmProps = {
  readonly order: Order;
  /** The price that is agreed to. Null: there is nothing to confirm. */
  readonly quote: Quote | null;
  readonly error: unknown;
  readonly isBusy: boolean;
  readonly onClose: () => void;
  readonly onSend: () => void;
};

/** Where it goes and what it comes to, once more before it is sent. */
export function ConfirmDialog({ order, quote, error, isBusy, onClose, onSend }: ConfirmProps) {
  const words = useWords(ORDER_WORDS);
  const formats = useFormats();
  const { environment } = useMerchantHere();
  return (
    <Dialog
      open={quote !== null}
      onClose={onClose}
      title={words.confirm}
      about={environment === "sandbox" ? words.confirmSandbox : words.confirmProduction}
    >
      {quote === null ? null : (
        <>
          <div>
            <EnvironmentBadge environment={environment} />
          </div>
          <dl className="flex flex-col gap-3">
            <div>
              <dt className="text-muted">{words.address}</dt>
              <dd className="font-mono break-all">{order.address}</dd>
            </div>
            <div>
              <dt className="text-muted">{words.network}</dt>
              <dd>{networkName(quote.network)}</dd>
            </div>
            <div>
              <dt className="text-muted">{words.externalId}</dt>
              <dd className="font-mono break-all">{order.externalId}</dd>
            </div>
          </dl>
          <div className="rounded-lg border border-line p-3">
            <QuoteLines quote={quote} />
          </div>
          {error === null ? null : <Refused error={error} />}
          <div className="flex flex-wrap justify-end gap-2">
            <Button onClick={onClose}>{words.back}</Button>
            <Button look="action" busy={isBusy} onClick={onSend}>
              {words.send} {formats.coins(quote.receivedAmount, quote.currencyCode)}
            </Button>
          </div>
        </>
      )}
    </Dialog>
  );
}
