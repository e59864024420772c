import type { TransferStatement } from "#gen/saldo/merchant/v1/statement_pb.ts";
import type { Transfer } from "#gen/saldo/merchant/v1/transfer_pb.ts";
import { useFormats } from "../../i18n/format.ts";
import { useMessages } from "../../i18n/language.tsx";
import { Card } from "../../components/card.tsx";
import { CopyButton } from "../../components/copy.tsx";
import { Fact, Mono } from "../../components/facts.tsx";
import { ChainId } from "./chain-id.tsx";
import { networkName } from "./coins.ts";
import { TRANSFER_MESSAGES } from "./transfer-messages.ts";

/** The order, its amounts, and its transaction on the chain. */
export function TransferFacts({
  statement,
  transfer,
}: {
  readonly statement: TransferStatement;
  readonly transfer: Transfer;
}) {
  const messages = useMessages(TRANSFER_MESSAGES);
  const formats = useFormats();
  const coins = (amount: string) => formats.coins(amount, transfer.currencyCode);
  return (
    <Card title={messages.summary} aside={<CopyButton text={transfer.id} what={messages.id} />}>
      <dl className="digits flex flex-col divide-y divide-line [&>div]:py-2">
        <Fact name={messages.received}>{coins(transfer.receivedAmount)}</Fact>
        <Fact name={messages.fee}>{coins(transfer.fee)}</Fact>
        <Fact name={messages.total}>
          <strong className="font-semibold">{coins(transfer.totalAmount)}</strong>
        </Fact>
        {/[1-9]/.test(statement.held) ? <Fact name={messages.held}>{coins(statement.held)}</Fact> : null}
        <Fact name={messages.network}>{networkName(transfer.network)}</Fact>
        <Fact name={messages.address}>
          <ChainId of={transfer} what="address" id={transfer.address} />
        </Fact>
        <Fact name={messages.transaction}>
          {transfer.transactionHash === undefined ? (
            <span className="text-muted">{messages.notSent}</span>
          ) : (
            <ChainId of={transfer} what="transaction" id={transfer.transactionHash} />
          )}
        </Fact>
        <Fact name={messages.confirmations}>{formats.count(transfer.confirmations)}</Fact>
        {transfer.reason === undefined ? null : <Fact name={messages.reason}>{transfer.reason}</Fact>}
        <Fact name={messages.slug}>
          <Mono>{transfer.slug}</Mono>
        </Fact>
        <Fact name={messages.id}>
          <code className="font-mono text-xs break-all">{transfer.id}</code>
        </Fact>
        <Fact name={messages.feeVersion}>
          <code className="font-mono text-xs break-all">{statement.feeId}</code>
        </Fact>
      </dl>
    </Card>
  );
}
