// MerchantTransferService: translation between the contract and the use cases of this room, for merchants with a pair of
// their own and for the account of a merchant.

import { create } from "@bufbuild/protobuf";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type { MerchantTransferService } from "#gen/saldo/merchant/v1/merchant_transfer_service_pb.ts";
import { MerchantBalanceSchema } from "#gen/saldo/merchant/v1/transfer_pb.ts";
import type { Database } from "../database/database.ts";
import type { MerchantPrincipal } from "../identity/principal.ts";
import { NotFound, ValidationError } from "../kernel/errors.ts";
import { createTransfer, type OrderSources, quoteTo } from "./transfers/create-transfer.ts";
import { listBalances } from "./merchants/merchants.ts";
import { requireMerchantOf } from "./merchants/store.ts";
import { toProtoQuote, toProtoStatement, toProtoTransfer } from "./proto-transfer.ts";
import { quoteTransfer } from "./transfers/quote.ts";
import { type ReadPayoutAttempts, readStatement } from "./transfers/statement.ts";
import {
  cancelTransfer,
  getTransfer,
  type HasSigningBegun,
  listTransfers,
  listTransfersBehind,
  type TransferScope,
  withHistory,
} from "./transfers/transfers.ts";

/** Set on the answer to a repeated order: the answer has the first transfer. */
export const REPLAYED_HEADER = "x-saldo-replayed";

/** Who calls: a merchant with its pair, or an account for one of its merchants. */
export type TransferCaller = MerchantPrincipal | { readonly kind: "account"; readonly accountId: string };

/** The dependencies of the service. */
export type MerchantTransferServiceSources = OrderSources & {
  readonly callerOf: (context: HandlerContext) => TransferCaller;
  readonly hasSigningBegun: HasSigningBegun;
  readonly payoutAttempts: ReadPayoutAttempts;
};

type ActingMerchant = Pick<MerchantPrincipal, "merchantId" | "environment"> & { readonly pairId?: string };

/** The service of merchant transfers as Connect serves it. */
export function createMerchantTransferService(
  sources: MerchantTransferServiceSources,
): ServiceImpl<typeof MerchantTransferService> {
  const { database, callerOf, hasSigningBegun } = sources;
  const merchantOf = (context: HandlerContext, named: string) => actingMerchant(database, callerOf(context), named);
  return {
    async calculateTransfer({ merchantId: named, currencyCode, network, amount: amountText, address }, context) {
      const { merchantId, environment } = await merchantOf(context, named);
      const request = { merchantId, environment, currencyCode, network, amountText };
      if (address === "") return { quote: toProtoQuote(await quoteTransfer(sources, request)) };
      return { quote: toProtoQuote((await quoteTo(sources, { ...request, address })).quote) };
    },

    async createTransfer({ merchantId, amount: amountText, externalId, currencyCode, network, address }, context) {
      const merchant = await merchantOf(context, merchantId);
      const order = { ...merchant, externalId, currencyCode, network, address, amountText };
      const { transfer, isReplayed } = await createTransfer(sources, order);
      if (isReplayed) context.responseHeader.set(REPLAYED_HEADER, "true");
      const { history } = await withHistory(database, transfer);
      return { transfer: toProtoTransfer(transfer, history), replayed: isReplayed };
    },

    async getTransfer({ id }, context) {
      const { transfer, history } = await getTransfer(database, scopeOf(callerOf(context)), id);
      return { transfer: toProtoTransfer(transfer, history) };
    },

    async listTransfers({ merchantId: named, pageSize, pageToken, ...query }, context) {
      const { merchantId } = await merchantOf(context, named);
      if (pageSize === 0 && pageToken === "") {
        const numbered = await listTransfers(database, { ...query, merchantId });
        return { ...numbered, transfers: numbered.transfers.map((transfer) => toProtoTransfer(transfer)) };
      }
      const page = { ...query, merchantId, pageSize, pageToken };
      const { items, nextPageToken } = await listTransfersBehind(database, page);
      return { transfers: items.map((transfer) => toProtoTransfer(transfer)), nextPageToken };
    },

    async cancelTransfer({ id: transferId }, context) {
      const scope = scopeOf(callerOf(context));
      const { transfer, history } = await cancelTransfer(database, { scope, transferId, hasSigningBegun });
      return { transfer: toProtoTransfer(transfer, history) };
    },

    async listBalances({ merchantId: named }, context) {
      const { merchantId } = await merchantOf(context, named);
      const balances = await listBalances(database, merchantId);
      return { balances: balances.map((balance) => create(MerchantBalanceSchema, balance)) };
    },

    async getTransferStatement({ id }, context) {
      return { statement: toProtoStatement(await readStatement(sources, scopeOf(callerOf(context)), id)) };
    },
  };
}

/** A merchant sees its own transfers, an account those of its merchants. */
function scopeOf(caller: TransferCaller): TransferScope {
  return caller.kind === "merchant" ? { merchantId: caller.merchantId } : { accountId: caller.accountId };
}

/**
 * The merchant that a call acts for. A pair acts for its own merchant, whether the call names it or not. Errors: NotFound for the
 * merchant of another caller, ValidationError when an account names none.
 */
async function actingMerchant(
  { pool }: Pick<Database, "pool">,
  caller: TransferCaller,
  named: string,
): Promise<ActingMerchant> {
  if (caller.kind === "account") {
    if (named === "")
      throw new ValidationError([{ field: "merchantId", rule: "required", message: "must name the merchant" }]);
    const environment = await requireMerchantOf(pool, { merchantId: named, accountId: caller.accountId });
    return { merchantId: named, environment };
  }
  const { merchantId, pairId, environment } = caller;
  if (named !== "" && named !== merchantId) throw new NotFound("There is no such merchant.");
  return { merchantId, pairId, environment };
}
