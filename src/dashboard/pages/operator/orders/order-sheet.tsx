// One order with everything that the deciding operator needs, and the decision.

import { useState } from "react";
import { OrderService } from "#gen/saldo/operator/v1/order_service_pb.ts";
import { OrderState, type PendingOrder } from "#gen/saldo/operator/v1/order_pb.ts";
import { UNKNOWN } from "../../../i18n/format.ts";
import { useMessages } from "../../../i18n/language.tsx";
import { Button } from "../../../components/button.tsx";
import { CodeBlock } from "../../../components/copy.tsx";
import { Fact, Facts, Mono } from "../../../components/facts.tsx";
import { OPERATOR_MESSAGES } from "../operator-messages.ts";
import { useAssetAmount, useWhen } from "../components/amounts.ts";
import { orderTexts, ReasonDialog, useNotifyOutcome, useOrder } from "../components/order.tsx";
import { Review } from "../components/review.tsx";
import { ORDERS_MESSAGES } from "./orders-messages.ts";

type Decision = "approve" | "refuse";
type OrderSheetProps = { readonly order: PendingOrder; readonly onDecided: () => void };

/** An order, and the possible decisions. */
export function OrderSheet({ order, onDecided }: OrderSheetProps) {
  const messages = useMessages(ORDERS_MESSAGES);
  const when = useWhen();
  const [decision, setDecision] = useState<Decision | null>(null);
  const isPending = order.state === OrderState.PENDING;
  return (
    <div className="flex flex-col gap-5">
      <Facts>
        <OrderFacts order={order} />
        <Fact name={messages.orderedAt}>{when(order.orderedAt)}</Fact>
        <Fact name={messages.expiresAt}>{when(order.expiresAt)}</Fact>
        {order.decidedBy === "" ? null : (
          <>
            <Fact name={messages.decidedBy}>{order.decidedBy}</Fact>
            <Fact name={messages.decidedAt}>{when(order.decidedAt)}</Fact>
            <Fact name={messages.decisionReason}>{order.decisionReason === "" ? UNKNOWN : order.decisionReason}</Fact>
          </>
        )}
        <Fact name={messages.id}>
          <Mono>{order.id}</Mono>
        </Fact>
      </Facts>
      {order.facts === "{}" ? null : <CodeBlock code={readable(order.facts)} what={messages.facts} />}
      {isPending && order.isOwn ? <p className="text-muted">{messages.own}</p> : null}
      {isPending ? (
        <div className="flex flex-wrap gap-2">
          {order.isOwn ? null : (
            <Button variant="action" onClick={() => setDecision("approve")}>
              {messages.approve}
            </Button>
          )}
          <Button onClick={() => setDecision("refuse")}>{order.isOwn ? messages.withdraw : messages.refuse}</Button>
        </div>
      ) : null}
      {decision === null ? null : (
        <DecideDialog order={order} decision={decision} onDecided={onDecided} onClose={() => setDecision(null)} />
      )}
    </div>
  );
}

function OrderFacts({ order }: { readonly order: PendingOrder }) {
  const messages = useMessages(ORDERS_MESSAGES);
  const shared = useMessages(OPERATOR_MESSAGES);
  const amountOf = useAssetAmount();
  return (
    <>
      <Fact name={messages.action}>
        <Mono>{order.action}</Mono>
      </Fact>
      <Fact name={messages.subject}>
        <span className="break-all">
          <Mono>{order.subject}</Mono>
        </span>
      </Fact>
      {order.amount === "" ? null : (
        <Fact name={messages.amount}>
          <strong className="text-lg font-semibold">{amountOf(order.amount, order.currencyCode)}</strong>
        </Fact>
      )}
      <Fact name={messages.orderedBy}>{order.orderedBy}</Fact>
      <Fact name={shared.reason}>{order.reason === "" ? UNKNOWN : order.reason}</Fact>
    </>
  );
}

function DecideDialog({
  order,
  decision,
  onDecided,
  onClose,
}: OrderSheetProps & { readonly decision: Decision; readonly onClose: () => void }) {
  const messages = useMessages(ORDERS_MESSAGES);
  const notifyOutcome = useNotifyOutcome();
  const approve = useOrder(OrderService.method.approveOrder);
  const refuse = useOrder(OrderService.method.refuseOrder);
  const isApproval = decision === "approve";
  const send = async (reason: string) => {
    notifyOutcome(await (isApproval ? approve : refuse).mutateAsync({ orderId: order.id, reason }));
    onDecided();
  };
  return (
    <ReasonDialog
      {...orderTexts(messages, decision)}
      onClose={onClose}
      isDanger={!isApproval}
      isReasonRequired={!isApproval}
      onOrder={send}
      review={() => (
        <Review>
          <OrderFacts order={order} />
        </Review>
      )}
    />
  );
}

/** JSON over several lines. */
function readable(json: string): string {
  return JSON.stringify(JSON.parse(json), null, 2);
}
