// Translates transfers to their contract.

import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  PayoutAttemptState as ProtoAttemptState,
  TransferAccount as ProtoAccount,
  type TransferStatement as StatementMessage,
  TransferStatementSchema,
} from "#gen/saldo/merchant/v1/statement_pb.ts";
import {
  type Quote as QuoteMessage,
  QuoteSchema,
  type Transfer as TransferMessage,
  TransferSchema,
} from "#gen/saldo/merchant/v1/transfer_pb.ts";
import { formatMoney } from "../kernel/money.ts";
import { protoEnvironment } from "./proto-environment.ts";
import type { Quote } from "./transfers/quote.ts";
import type { PayoutAttempt, TransferEntry, TransferStatement } from "./transfers/statement.ts";
import type { Transfer, TransferEvent } from "./transfers/transfer.ts";

export function toProtoQuote(quote: Quote): QuoteMessage {
  return create(QuoteSchema, {
    currencyCode: quote.coin.currencyCode,
    network: quote.coin.network,
    receivedAmount: formatMoney(quote.received),
    fee: formatMoney(quote.fee),
    totalAmount: formatMoney(quote.total),
  });
}

/** A transfer with its history, or without one in a list. */
export function toProtoTransfer(transfer: Transfer, history: readonly TransferEvent[] = []): TransferMessage {
  const total = formatMoney(transfer.total);
  return create(TransferSchema, {
    id: transfer.transferId,
    slug: transfer.slug,
    externalId: transfer.externalId,
    status: transfer.status,
    amount: total,
    totalAmount: total,
    fee: formatMoney(transfer.fee),
    receivedAmount: formatMoney(transfer.received),
    currencyCode: transfer.coin.currencyCode,
    network: transfer.coin.network,
    address: transfer.address,
    confirmations: transfer.confirmations,
    paymentType: "BALANCE",
    createdAt: transfer.createdAt.toISOString(),
    updatedAt: transfer.updatedAt.toISOString(),
    history: history.map(toProtoEvent),
    environment: protoEnvironment[transfer.environment],
    ...(transfer.transactionHash === null ? {} : { transactionHash: transfer.transactionHash }),
    ...(transfer.confirmedAt === null ? {} : { confirmedAt: transfer.confirmedAt.toISOString() }),
    ...(transfer.reason === null ? {} : { reason: transfer.reason }),
  });
}

function toProtoEvent({ eventId, status, transactionHash, confirmations, reason, createdAt }: TransferEvent) {
  return {
    id: eventId,
    status,
    confirmations,
    createdAt: createdAt.toISOString(),
    ...(transactionHash === null ? {} : { transactionHash }),
    ...(reason === null ? {} : { reason }),
  };
}

const protoAccount = {
  merchant: ProtoAccount.MERCHANT,
  revenue: ProtoAccount.REVENUE,
  payout_clearing: ProtoAccount.PAYOUT_CLEARING,
  merchant_clearing: ProtoAccount.MERCHANT_CLEARING,
  sandbox: ProtoAccount.SANDBOX,
} as const satisfies Record<TransferEntry["account"], ProtoAccount>;

const protoAttemptState = {
  signed: ProtoAttemptState.SIGNED,
  unknown: ProtoAttemptState.UNKNOWN,
  broadcast: ProtoAttemptState.BROADCAST,
  mined: ProtoAttemptState.MINED,
  confirmed: ProtoAttemptState.CONFIRMED,
  failed: ProtoAttemptState.FAILED,
  replaced: ProtoAttemptState.REPLACED,
} as const satisfies Record<PayoutAttempt["state"], ProtoAttemptState>;

export function toProtoStatement(statement: TransferStatement): StatementMessage {
  const { transfer, history, entries, attempts, held } = statement;
  return create(TransferStatementSchema, {
    transfer: toProtoTransfer(transfer, history),
    ledgerEntries: entries.map(({ postingId, account, amount, reason, postedAt }) => ({
      postingId,
      account: protoAccount[account],
      amount: formatMoney(amount),
      reason,
      postedAt: timestampFromDate(postedAt),
    })),
    payoutAttempts: attempts.map(({ state, nonce, blockNumber, createdAt, ...attempt }) => ({
      ...attempt,
      state: protoAttemptState[state],
      nonce: nonce?.toString() ?? "",
      blockNumber: blockNumber?.toString() ?? "",
      createdAt: timestampFromDate(createdAt),
    })),
    held: formatMoney(held),
    feeId: transfer.feeRowId,
  });
}
