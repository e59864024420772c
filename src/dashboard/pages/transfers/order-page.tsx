// Ordering a transfer: typed, quoted, confirmed, sent. An order with a used external id is not carried out again.

import { useMutation } from "@connectrpc/connect-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { MerchantTransferService } from "#gen/saldo/merchant/v1/merchant_transfer_service_pb.ts";
import type { Transfer } from "#gen/saldo/merchant/v1/transfer_pb.ts";
import { useMessages } from "../../i18n/language.tsx";
import { Button, LinkButton } from "../../components/button.tsx";
import { Card } from "../../components/card.tsx";
import { useRefreshedBalances } from "./balances.tsx";
import { ConfirmDialog } from "./confirm-dialog.tsx";
import { useMerchantHere } from "./merchant-here.tsx";
import { amountOfOrder, newOrder, type Order, type PricedOrder } from "./order.ts";
import { OrderForm } from "./order-form.tsx";
import { ORDER_MESSAGES } from "./order-messages.ts";
import { QuoteCard } from "./quote-card.tsx";

/** The form, the quote, and the confirmation. */
export function OrderPage() {
  const { merchantId, environment } = useMerchantHere();
  const navigate = useNavigate();
  const refreshBalances = useRefreshedBalances();
  const [order, setOrder] = useState<Order>(newOrder);
  const [confirmed, setConfirmed] = useState<PricedOrder | null>(null);
  const [known, setKnown] = useState<Transfer | null>(null);
  const { mutate, error, isPending, reset } = useMutation(MerchantTransferService.method.createTransfer, {
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
        priced={confirmed}
        error={error}
        isBusy={isPending}
        onClose={() => {
          reset();
          setConfirmed(null);
        }}
        // The confirmed order, whatever has been typed since its quote.
        onSend={(shown) => mutate({ merchantId, ...shown, amount: amountOfOrder(shown) })}
      />
    </div>
  );
}

function Known({ transfer, onAnother }: { readonly transfer: Transfer; readonly onAnother: () => void }) {
  const messages = useMessages(ORDER_MESSAGES);
  const { environment } = useMerchantHere();
  return (
    <Card title={messages.known}>
      <div role="status" className="flex flex-col items-start gap-3">
        <p>{messages.knownAbout}</p>
        <code className="font-mono break-all">{transfer.externalId}</code>
        <div className="flex flex-wrap gap-2">
          <LinkButton
            variant="action"
            to="/transfers/$environment/$transferId"
            params={{ environment, transferId: transfer.id }}
          >
            {messages.openKnown}
          </LinkButton>
          <Button onClick={onAnother}>{messages.another}</Button>
        </div>
      </div>
    </Card>
  );
}
