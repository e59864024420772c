import type { Transfer } from "#gen/saldo/merchant/v1/transfer_pb.ts";
import { useFormats } from "../../i18n/format.ts";
import { useMessages } from "../../i18n/language.tsx";
import { Card } from "../../components/card.tsx";
import { ChainId } from "./chain-id.tsx";
import { StatusBadge } from "./transfer-status.tsx";
import { TRANSFER_MESSAGES } from "./transfer-messages.ts";

/** Every status of the transfer, oldest first, with its details. */
export function Timeline({ transfer }: { readonly transfer: Transfer }) {
  const messages = useMessages(TRANSFER_MESSAGES);
  const formats = useFormats();
  return (
    <Card title={messages.timeline}>
      <ol className="flex flex-col">
        {transfer.history.map((event) => (
          <li
            key={event.id}
            className="relative border-l-2 border-line pb-5 pl-5 last:border-transparent last:pb-0 before:absolute before:top-1.5 before:-left-[5px] before:size-2 before:rounded-full before:bg-line-strong"
          >
            <StatusBadge status={event.status} />
            <time dateTime={event.createdAt} className="mt-1 block text-xs text-muted">
              {formats.time(new Date(event.createdAt))}
            </time>
            {event.reason === undefined ? null : <p className="mt-1 break-words">{event.reason}</p>}
            {event.transactionHash === undefined ? null : (
              <p className="mt-1">
                <ChainId of={transfer} what="transaction" id={event.transactionHash} />
              </p>
            )}
            {event.confirmations === 0 ? null : (
              <p className="text-xs text-muted">
                {messages.confirmations}: {formats.count(event.confirmations)}
              </p>
            )}
          </li>
        ))}
      </ol>
    </Card>
  );
}
