import { useFormats } from "../../i18n/format.ts";
import { useMessages } from "../../i18n/language.tsx";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { networkName } from "./coins.ts";
import { EnvironmentBadge } from "./environments.tsx";
import { useMerchantHere } from "./merchant-here.tsx";
import type { Order, PricedOrder } from "./order.ts";
import { ORDER_MESSAGES } from "./order-messages.ts";
import { QuoteLines } from "./quote-card.tsx";
import { Refused } from "../../components/refused.tsx";

type ConfirmProps = {
  /** Null: there is nothing to confirm. */
  readonly priced: PricedOrder | null;
  readonly error: unknown;
  readonly isBusy: boolean;
  readonly onClose: () => void;
  readonly onSend: (order: Order) => void;
};

/** The destination and the amounts, once more before the order is sent. */
export function ConfirmDialog({ priced, error, isBusy, onClose, onSend }: ConfirmProps) {
  const messages = useMessages(ORDER_MESSAGES);
  const { environment } = useMerchantHere();
  return (
    <Dialog
      open={priced !== null}
      onClose={onClose}
      title={messages.confirm}
      about={environment === "sandbox" ? messages.confirmSandbox : messages.confirmProduction}
    >
      {priced === null ? null : (
        <>
          <div>
            <EnvironmentBadge environment={environment} />
          </div>
          <Shown {...priced} />
          {error === null ? null : <Refused error={error} />}
          <div className="flex flex-wrap justify-end gap-2">
            <Button onClick={onClose}>{messages.back}</Button>
            <SendButton {...priced} isBusy={isBusy} onSend={onSend} />
          </div>
        </>
      )}
    </Dialog>
  );
}

function Shown({ order, quote }: PricedOrder) {
  const messages = useMessages(ORDER_MESSAGES);
  return (
    <>
      <dl className="flex flex-col gap-3">
        <div>
          <dt className="text-muted">{messages.address}</dt>
          <dd className="font-mono break-all">{order.address}</dd>
        </div>
        <div>
          <dt className="text-muted">{messages.network}</dt>
          <dd>{networkName(quote.network)}</dd>
        </div>
        <div>
          <dt className="text-muted">{messages.externalId}</dt>
          <dd className="font-mono break-all">{order.externalId}</dd>
        </div>
      </dl>
      <div className="rounded-lg border border-line p-3">
        <QuoteLines quote={quote} />
      </div>
    </>
  );
}

function SendButton({ order, quote, isBusy, onSend }: PricedOrder & Pick<ConfirmProps, "isBusy" | "onSend">) {
  const messages = useMessages(ORDER_MESSAGES);
  const formats = useFormats();
  return (
    <Button variant="action" busy={isBusy} onClick={() => onSend(order)}>
      {messages.send} {formats.coins(quote.receivedAmount, quote.currencyCode)}
    </Button>
  );
}
