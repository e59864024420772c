import type { TransferStatement } from "#gen/saldo/merchant/v1/statement_pb.ts";
import type { Transfer } from "#gen/saldo/merchant/v1/transfer_pb.ts";
import { useFormats } from "../../i18n/format.ts";
import { useWords } from "../../i18n/language.tsx";
import { Card } from "../../components/card.tsx";
import { CopyButton } from "../../components/copy.tsx";
import { Fact, Mono } from "../../components/facts.tsx";
import { ChainId } from "./chain-id.tsx";
import { networkName } from "./coins.ts";
import { TRANSFER_WORDS } from "./transfer-words.ts";

/** What was ordered, what it comes to, and where it is on the chain. */
export function TransferFacts({
  statement,
  transfer,
}: {
  readonly statement: TransferStatement;
  readonly transfer: Transfer;
}) {
  const words = useWords(TRANSFER_WORDS);
  const formats = useFormats();
  const coins = (amount: string) => formats.coins(amount, transfer.currencyCode);
  return (
    <Card title={words.summary} aside={<CopyButton text={transfer.id} what={words.id} />}>
      <dl className="digits flex flex-col divide-y divide-line [&>div]:py-2">
        <Fact name={words.received}>{coins(transfer.receivedAmount)}</Fact>
        <Fact name={words.fee}>{coins(transfer.fee)}</Fact>
        <Fact name={words.total}>
          <strong className="font-semibold">{coins(transfer.totalAmount)}</strong>
        </Fact>
        {/[1-9]/.test(statement.held) ? <Fact name={words.held}>{coins(statement.held)}</Fact> : null}
        <Fact name={words.network}>{networkName(transfer.network)}</Fact>
        <Fact name={words.address}>
          <ChainId of={transfer} what="address" id={transfer.address} />
        </Fact>
        <Fact name={words.transaction}>
          {transfer.transactionHash === undefined ? (
            <span className="text-muted">{words.notSent}</span>
          ) : (
            <ChainId of={transfer} what="transaction" id={transfer.transactionHash} />
          )}
        </Fact>
        <Fact name={words.confirmations}>{formats.count(transfer.confirmations)}</Fact>
        {transfer.reason === undefined ? null : <Fact name={words.reason}>{transfer.reason}</Fact>}
        <Fact name={words.slug}>
          <Mono>{transfer.slug}</Mono>
        </Fact>
        <Fact name={words.id}>
          <code className="font-mono text-xs break-all">{transfer.id}</code>
        </Fact>
        <Fact name={words.feeVersion}>
          <code className="font-mono text-xs break-all">{statement.feeId}</code>
        </Fact>
      </dl>
    </Card>
  );
}
