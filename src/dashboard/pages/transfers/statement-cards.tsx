// A transfer's ledger entries, and the transactions of its payout.

import { timestampDate } from "@bufbuild/protobuf/wkt";
import {
  type PayoutAttempt,
  PayoutAttemptState,
  TransferAccount,
  type TransferLedgerEntry,
  type TransferStatement,
} from "#gen/saldo/merchant/v1/statement_pb.ts";
import type { Transfer } from "#gen/saldo/merchant/v1/transfer_pb.ts";
import { UNKNOWN, useFormats } from "../../i18n/format.ts";
import { useMessages } from "../../i18n/language.tsx";
import { Badge, type Tone } from "../../components/badge.tsx";
import { Card } from "../../components/card.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { ChainId } from "./chain-id.tsx";
import { TRANSFER_MESSAGES } from "./transfer-messages.ts";

type StatementProps = {
  readonly statement: TransferStatement;
  readonly transfer: Transfer;
};

/** Attempts, then the ledger. */
export function StatementCards({ statement, transfer }: StatementProps) {
  const messages = useMessages(TRANSFER_MESSAGES);
  const attempts = useAttemptColumns(transfer);
  const entries = useEntryColumns(transfer);
  return (
    <>
      <Card title={messages.attempts} flush>
        {statement.payoutAttempts.length === 0 ? (
          <p className="px-4 pb-4 text-muted">{messages.noAttempts}</p>
        ) : (
          <Table
            label={messages.attempts}
            columns={attempts}
            rows={statement.payoutAttempts}
            keyOf={({ transactionHash, createdAt }) => `${transactionHash} ${String(createdAt?.seconds)}`}
          />
        )}
      </Card>
      <Card title={messages.ledger} flush>
        {statement.ledgerEntries.length === 0 ? (
          <p className="px-4 pb-4 text-muted">{messages.noLedger}</p>
        ) : (
          <Table
            label={messages.ledger}
            columns={entries}
            rows={statement.ledgerEntries}
            keyOf={({ postingId, account }) => `${postingId} ${account}`}
          />
        )}
      </Card>
    </>
  );
}

const ATTEMPT_TONES: Readonly<Partial<Record<PayoutAttemptState, Tone>>> = {
  [PayoutAttemptState.SIGNED]: "info",
  [PayoutAttemptState.UNKNOWN]: "warn",
  [PayoutAttemptState.BROADCAST]: "info",
  [PayoutAttemptState.MINED]: "info",
  [PayoutAttemptState.CONFIRMED]: "good",
  [PayoutAttemptState.FAILED]: "bad",
};

function useAttemptColumns(transfer: Transfer): readonly Column<PayoutAttempt>[] {
  const messages = useMessages(TRANSFER_MESSAGES);
  const formats = useFormats();
  const states: Readonly<Partial<Record<PayoutAttemptState, string>>> = {
    [PayoutAttemptState.SIGNED]: messages.signed,
    [PayoutAttemptState.UNKNOWN]: messages.unknown,
    [PayoutAttemptState.BROADCAST]: messages.broadcast,
    [PayoutAttemptState.MINED]: messages.mined,
    [PayoutAttemptState.CONFIRMED]: messages.confirmed,
    [PayoutAttemptState.FAILED]: messages.failed,
    [PayoutAttemptState.REPLACED]: messages.replaced,
  };
  return [
    {
      key: "hash",
      head: messages.transaction,
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
      head: messages.state,
      cell: ({ state }) => <Badge tone={ATTEMPT_TONES[state] ?? "neutral"}>{states[state] ?? UNKNOWN}</Badge>,
    },
    { key: "nonce", head: messages.nonce, right: true, wide: true, cell: ({ nonce }) => nonce || UNKNOWN },
    { key: "block", head: messages.block, right: true, wide: true, cell: ({ blockNumber }) => blockNumber || UNKNOWN },
    {
      key: "confirmations",
      head: messages.confirmations,
      right: true,
      wide: true,
      cell: ({ confirmations }) => formats.count(confirmations),
    },
  ];
}

function useEntryColumns({ currencyCode }: Transfer): readonly Column<TransferLedgerEntry>[] {
  const messages = useMessages(TRANSFER_MESSAGES);
  const formats = useFormats();
  const accounts: Readonly<Partial<Record<TransferAccount, string>>> = {
    [TransferAccount.MERCHANT]: messages.merchant,
    [TransferAccount.REVENUE]: messages.revenue,
    [TransferAccount.PAYOUT_CLEARING]: messages.payout_clearing,
    [TransferAccount.MERCHANT_CLEARING]: messages.merchant_clearing,
    [TransferAccount.SANDBOX]: messages.sandboxAccount,
  };
  // By the server's names; an unknown one is shown unchanged.
  const reasons: Readonly<Record<string, string>> = messages;
  return [
    {
      key: "account",
      head: messages.account,
      cell: ({ account, postedAt }) => (
        <>
          {accounts[account] ?? UNKNOWN}
          <span className="block text-xs text-muted">
            {postedAt === undefined ? "" : formats.time(timestampDate(postedAt))}
          </span>
        </>
      ),
    },
    { key: "reason", head: messages.what, cell: ({ reason }) => reasons[reason] ?? reason },
    { key: "amount", head: messages.amount, right: true, cell: ({ amount }) => formats.coins(amount, currencyCode) },
  ];
}
