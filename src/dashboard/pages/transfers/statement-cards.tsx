// The traces of a transfer: its lines in the ledger, and the transactions that were made to carry it out.

import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { PayoutAttempt, TransferLedgerEntry, TransferStatement } from "#gen/saldo/merchant/v1/statement_pb.ts";
import type { Transfer } from "#gen/saldo/merchant/v1/transfer_pb.ts";
import { UNKNOWN, useFormats } from "../../i18n/format.ts";
import { useWords } from "../../i18n/language.tsx";
import { Badge, type Tone } from "../../components/badge.tsx";
import { Card } from "../../components/card.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { ChainId } from "./chain-id.tsx";
import { TRANSFER_WORDS } from "./transfer-words.ts";

type StatementProps = {
  readonly statement: TransferStatement;
  readonly transfer: Transfer;
};

/** Attempts, then the ledger. */
export function StatementCards({ statement, transfer }: StatementProps) {
  const words = useWords(TRANSFER_WORDS);
  const attempts = useAttemptColumns(transfer);
  const entries = useEntryColumns(transfer);
  return (
    <>
      <Card title={words.attempts} flush>
        {statement.payoutAttempts.length === 0 ? (
          <p className="px-4 pb-4 text-muted">{words.noAttempts}</p>
        ) : (
          <Table
            label={words.attempts}
            columns={attempts}
            rows={statement.payoutAttempts}
            keyOf={({ transactionHash, createdAt }) => `${transactionHash} ${String(createdAt?.seconds)}`}
          />
        )}
      </Card>
      <Card title={words.ledger} flush>
        {statement.ledgerEntries.length === 0 ? (
          <p className="px-4 pb-4 text-muted">{words.noLedger}</p>
        ) : (
          <Table
            label={words.ledger}
            columns={entries}
            rows={statement.ledgerEntries}
            keyOf={({ postingId, account }) => `${postingId} ${account}`}
          />
        )}
      </Card>
    </>
  );
}

const ATTEMPT_TONES: Readonly<Record<string, Tone>> = {
  final: "good",
  mined: "info",
  seen: "info",
  confirmed: "good",
  failed: "bad",
  unknown: "warn",
  broadcast: "info",
  signed: "info",
};

function useAttemptColumns(transfer: Transfer): readonly Column<PayoutAttempt>[] {
  const words = useWords(TRANSFER_WORDS);
  const formats = useFormats();
  const states: Readonly<Record<string, string>> = words;
  return [
    {
      key: "hash",
      head: words.transaction,
      cell: ({ transactionHash, createdAt, problem }) => (
        <>
          <ChainId of={transfer} what="transaction" id={transactionHash === "" ? UNKNOWN : transactionHash} />
          <span className="block text-xs text-muted">
            {createdAt === undefined ? "" : formats.time(timestampDate(createdAt))}
          </span>
          {problem === "" ? null : <span className="block text-bad">{problem}</span>}
        </>
      ),
    },
    {
      key: "state",
      head: words.state,
      cell: ({ state }) => <Badge tone={ATTEMPT_TONES[state] ?? "neutral"}>{states[state] ?? state}</Badge>,
    },
    { key: "nonce", head: words.nonce, right: true, wide: true, cell: ({ nonce }) => nonce || UNKNOWN },
    { key: "block", head: words.block, right: true, wide: true, cell: ({ blockNumber }) => blockNumber || UNKNOWN },
    {
      key: "confirmations",
      head: words.confirmations,
      right: true,
      wide: true,
      cell: ({ confirmations }) => formats.count(confirmations),
    },
  ];
}

function useEntryColumns({ currencyCode }: Transfer): readonly Column<TransferLedgerEntry>[] {
  const words = useWords(TRANSFER_WORDS);
  const formats = useFormats();
  // By the names the server gives; one that is not known here is shown as it is.
  const accounts: Readonly<Record<string, string>> = { ...words, sandbox: words.sandboxAccount };
  const reasons: Readonly<Record<string, string>> = words;
  return [
    {
      key: "account",
      head: words.account,
      cell: ({ account, postedAt }) => (
        <>
          {accounts[account] ?? account}
          <span className="block text-xs text-muted">
            {postedAt === undefined ? "" : formats.time(timestampDate(postedAt))}
          </span>
        </>
      ),
    },
    { key: "reason", head: words.what, cell: ({ reason }) => reasons[reason] ?? reason },
    { key: "amount", head: words.amount, right: true, cell: ({ amount }) => formats.coins(amount, currencyCode) },
  ];
}
