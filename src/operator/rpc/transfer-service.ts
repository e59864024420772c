import type { ServiceImpl } from "@connectrpc/connect";
import type { TransferService } from "#gen/saldo/operator/v1/transfer_service_pb.ts";
import { NotFound } from "../../kernel/errors.ts";
import { isUuid } from "../../kernel/ids.ts";
import { readPayoutAttempts } from "../../merchant/payouts/payout-history.ts";
import { environmentOf } from "../../merchant/proto-environment.ts";
import { toProtoStatement, toProtoTransfer } from "../../merchant/proto-transfer.ts";
import { readStatement } from "../../merchant/transfers/statement.ts";
import { TRANSFER_STATUSES } from "../../merchant/transfers/transfer.ts";
import {
  findTransfers,
  type OwnedTransfer,
  readOwnedTransfer,
} from "../../merchant/transfers/transfer-search-store.ts";
import type { MovedTransfer } from "../../merchant/transfers/transfers.ts";
import { carryOutOrStore } from "../second-person/approvals.ts";
import { readPage } from "../../kernel/paging.ts";
import { orNull, type Parts } from "./proto-parts.ts";
import { rejectTransfer } from "../commands/transfers.ts";

/** TransferService: transfers of all merchants. */
export function createTransferService({
  database,
  operatorContext,
  secondPerson: rule,
}: Pick<Parts, "database" | "operatorContext" | "secondPerson">): ServiceImpl<typeof TransferService> {
  const { pool } = database;

  async function find(transferId: string): Promise<OwnedTransfer> {
    const found = isUuid(transferId) ? await readOwnedTransfer(pool, transferId) : undefined;
    if (found === undefined) throw new NotFound("There is no such transfer.");
    return found;
  }

  async function moved({ transfer, isNew }: MovedTransfer) {
    return { transfer: toProtoAccountTransfer({ ...(await find(transfer.transferId)), transfer }), isNew };
  }

  return {
    async listTransfers(request) {
      const search = {
        accountId: orNull(request.accountId),
        merchantId: orNull(request.merchantId),
        environment: environmentOf(request.environment),
        status: TRANSFER_STATUSES.find((status) => status === request.status) ?? null,
        awaitsApproval: request.onlyAwaitingApproval,
        name: orNull(request.name),
      };
      const page = await readPage(
        request,
        (range) => findTransfers(pool, { ...search, ...range }),
        ({ transfer }) => transfer.transferId,
      );
      return { transfers: page.items.map(toProtoAccountTransfer), nextPageToken: page.nextPageToken };
    },

    async getTransfer({ transferId }) {
      const { accountId } = await find(transferId);
      const statement = await readStatement(
        { database, payoutAttempts: readPayoutAttempts },
        { accountId },
        transferId,
      );
      return {
        // As the statement has it: it may have moved since it was found.
        transfer: toProtoAccountTransfer({ accountId, transfer: statement.transfer }),
        statement: toProtoStatement(statement),
      };
    },

    async approveTransfer({ transferId, reason }, context) {
      const by = operatorContext(context);
      const requested = await carryOutOrStore({ by, rule }, "transfer approve", { transferId, note: reason });
      if (requested.outcome !== null) return moved(requested.outcome);
      return {
        transfer: toProtoAccountTransfer(await find(transferId)),
        pendingApprovalId: requested.pendingApprovalId,
      };
    },

    async rejectTransfer({ transferId, reason }, context) {
      return moved(await rejectTransfer(operatorContext(context), { transferId, reason }));
    },
  };
}

function toProtoAccountTransfer({ transfer, accountId }: Pick<OwnedTransfer, "transfer" | "accountId">) {
  const { merchantId, awaitsApproval, status } = transfer;
  return {
    transfer: toProtoTransfer(transfer),
    merchantId,
    accountId,
    // One that has ended without it keeps the mark, and waits for no decision.
    awaitsApproval: awaitsApproval && status === "WAITING",
  };
}
