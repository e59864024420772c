// One delivery with every attempt, and sending it once more.

import { timestampDate } from "@bufbuild/protobuf/wkt";
import { createConnectQueryKey, useMutation } from "@connectrpc/connect-query";
import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { CallbackAttempt, CallbackDelivery } from "#gen/saldo/merchant/v1/callback_pb.ts";
import { CallbackService } from "#gen/saldo/merchant/v1/callback_service_pb.ts";
import { UNKNOWN, useFormats } from "../../i18n/format.ts";
import { useMessages } from "../../i18n/language.tsx";
import { Button } from "../../components/button.tsx";
import { useReasons } from "../../components/delivery-reasons.ts";
import { Dialog } from "../../components/dialog.tsx";
import { useNotify } from "../../components/notices.tsx";
import { Empty } from "../../components/states.tsx";
import { CALLBACK_MESSAGES } from "./callback-messages.ts";
import { useMerchantHere } from "./merchant-here.tsx";
import { Refused } from "../../components/refused.tsx";
import { StatusBadge } from "./transfer-status.tsx";

type SheetProps = {
  /** Whether the address names a delivery. */
  readonly open: boolean;
  /** Undefined: it is not among the loaded ones. */
  readonly delivery: CallbackDelivery | undefined;
  readonly onClose: () => void;
  /** Loads more deliveries. */
  readonly children: ReactNode;
};

/** Opens at the right when the address names a delivery. */
export function DeliverySheet({ open, delivery, onClose, children }: SheetProps) {
  const messages = useMessages(CALLBACK_MESSAGES);
  return (
    <Dialog side open={open} onClose={onClose} title={messages.delivery}>
      {delivery === undefined ? null : <Delivery delivery={delivery} />}
      {open && delivery === undefined ? (
        <>
          <Empty title={messages.gone}>{messages.goneAbout}</Empty>
          {children}
        </>
      ) : null}
    </Dialog>
  );
}

function Delivery({ delivery }: { readonly delivery: CallbackDelivery }) {
  const messages = useMessages(CALLBACK_MESSAGES);
  const { endOf } = useReasons();
  const { environment } = useMerchantHere();
  return (
    <>
      <dl className="flex flex-col gap-3 [&_dt]:text-muted">
        <div>
          <dt>{messages.transferStatus}</dt>
          <dd>
            <StatusBadge status={delivery.status} />
          </dd>
        </div>
        <div>
          <dt>{messages.transfer}</dt>
          <dd>
            <Link
              to="/transfers/$environment/$transferId"
              params={{ environment, transferId: delivery.transferId }}
              className="underline underline-offset-2"
            >
              {messages.openTransfer}
            </Link>
          </dd>
        </div>
        <div>
          <dt>{messages.event}</dt>
          <dd className="font-mono text-xs break-all">{delivery.eventId}</dd>
        </div>
        <div>
          <dt>{messages.address}</dt>
          <dd className="font-mono text-xs break-all">{delivery.url === "" ? UNKNOWN : delivery.url}</dd>
        </div>
        {delivery.note === "" ? null : (
          <div>
            <dt>{messages.note}</dt>
            <dd>{endOf(delivery)}</dd>
          </div>
        )}
      </dl>
      <Attempts attempts={delivery.attempts} />
      <Resend deliveryId={delivery.id} />
    </>
  );
}

function Attempts({ attempts }: { readonly attempts: readonly CallbackAttempt[] }) {
  const messages = useMessages(CALLBACK_MESSAGES);
  const formats = useFormats();
  const { problemOf } = useReasons();
  return (
    <section className="flex flex-col gap-2">
      <h3 className="font-medium">{messages.attempts}</h3>
      {attempts.length === 0 ? <p className="text-muted">{messages.noAttempts}</p> : null}
      <ol className="flex flex-col divide-y divide-line rounded-lg border border-line empty:hidden">
        {attempts.map((attempt, index) => (
          <li key={index} className="p-3">
            <p className="flex flex-wrap justify-between gap-x-4">
              <span>{attempt.startedAt === undefined ? UNKNOWN : formats.time(timestampDate(attempt.startedAt))}</span>
              <span className="digits text-muted">
                {attempt.httpStatus === 0 ? messages.noAnswer : `HTTP ${attempt.httpStatus}`} ·{" "}
                {formats.seconds(attempt.durationMs)}
              </span>
            </p>
            {attempt.problem === "" ? null : <p className="mt-1 break-words text-bad">{problemOf(attempt)}</p>}
          </li>
        ))}
      </ol>
    </section>
  );
}

function Resend({ deliveryId }: { readonly deliveryId: string }) {
  const messages = useMessages(CALLBACK_MESSAGES);
  const notify = useNotify();
  const queries = useQueryClient();
  const { merchantId } = useMerchantHere();
  const { mutate, error, isPending } = useMutation(CallbackService.method.resendCallback, {
    onSuccess: () => {
      notify(messages.resent);
      void queries.invalidateQueries({
        queryKey: createConnectQueryKey({
          schema: CallbackService.method.listCallbackDeliveries,
          cardinality: "infinite",
        }),
      });
    },
  });
  return (
    <>
      {error === null ? null : <Refused error={error} instead={{ validation_error: messages.resendOff }} />}
      <Button busy={isPending} onClick={() => mutate({ merchantId, deliveryId })} className="self-start">
        {messages.resend}
      </Button>
    </>
  );
}
