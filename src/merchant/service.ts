// MerchantTransferService: translation between the contract and the use cases of this room, for merchants with a pair
// of their own. The other methods for merchants are in merchant-service.ts.

import { create } from "@bufbuild/protobuf";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type { MerchantTransferService } from "#gen/saldo/merchant/v1/merchant_transfer_service_pb.ts";
import { MerchantBalanceSchema } from "#gen/saldo/merchant/v1/transfer_pb.ts";
import type { MerchantPrincipal } from "../identity/principal.ts";
import { createTransfer, type OrderSources } from "./transfers/create-transfer.ts";
import { listBalances } from "./merchants/merchants.ts";
import { toProtoQuote, toProtoTransfer } from "./proto-transfer.ts";
import { quoteTransfer } from "./transfers/quote.ts";
import {
  cancelTransfer,
  getTransfer,
  type HasSigningBegun,
  listTransfers,
  withHistory,
} from "./transfers/transfers.ts";

/** Set on the answer to a repeated order: the answer has the first transfer. */
export const REPLAYED_HEADER = "x-saldo-replayed";

/** The dependencies of the service. `merchant` identifies the caller; it throws when that is not a merchant. */
export type MerchantTransferServiceSources = OrderSources & {
  readonly merchant: (context: HandlerContext) => MerchantPrincipal;
  readonly hasSigningBegun: HasSigningBegun;
};

/** The service of merchant transfers as Connect serves it. */
export function createMerchantTransferService(
  sources: MerchantTransferServiceSources,
): ServiceImpl<typeof MerchantTransferService> {
  const { database, merchant, hasSigningBegun } = sources;
  return {
    async calculateTransfer({ currencyCode, network, amount: amountText }, context) {
      const { merchantId, environment } = merchant(context);
      const request = { merchantId, environment, currencyCode, network, amountText };
      return { quote: toProtoQuote(await quoteTransfer(sources, request)) };
    },

    async createTransfer({ amount: amountText, externalId, currencyCode, network, address }, context) {
      const { merchantId, pairId, environment } = merchant(context);
      const order = { merchantId, pairId, environment, externalId, currencyCode, network, address, amountText };
      const { transfer, isReplayed } = await createTransfer(sources, order);
      if (isReplayed) context.responseHeader.set(REPLAYED_HEADER, "true");
      const { history } = await withHistory(database, transfer);
      return { transfer: toProtoTransfer(transfer, history) };
    },

    async getTransfer({ id }, context) {
      const { transfer, history } = await getTransfer(database, merchant(context), id);
      return { transfer: toProtoTransfer(transfer, history) };
    },

    async listTransfers({ page, perPage, fromDate, toDate, status }, context) {
      const { merchantId } = merchant(context);
      const found = await listTransfers(database, { merchantId, page, perPage, fromDate, toDate, status });
      return { ...found, transfers: found.transfers.map((transfer) => toProtoTransfer(transfer)) };
    },

    async cancelTransfer({ id: transferId }, context) {
      const scope = merchant(context);
      const { transfer, history } = await cancelTransfer(database, { scope, transferId, hasSigningBegun });
      return { transfer: toProtoTransfer(transfer, history) };
    },

    async listBalances(_request, context) {
      const balances = await listBalances(database, merchant(context).merchantId);
      return { balances: balances.map((balance) => create(MerchantBalanceSchema, balance)) };
    },
  };
}
