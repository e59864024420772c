// The contract side of merchant transfers: messages in, one use case each, messages out. Ordering, showing, listing and
// canceling transfers answer "unimplemented" until transfers exist.

import { create } from "@bufbuild/protobuf";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import {
  CalculateTransferResponseSchema,
  ListBalancesResponseSchema,
  type MerchantTransferService,
} from "#gen/saldo/merchant/v1/merchant_transfer_service_pb.ts";
import { MerchantBalanceSchema, type Quote as QuoteMessage, QuoteSchema } from "#gen/saldo/merchant/v1/transfer_pb.ts";
import type { MerchantPrincipal } from "../accounts/principal.ts";
import { formatMoney } from "../kernel/money.ts";
import { listBalances } from "./merchants.ts";
import { type Quote, type QuoteSources, quoteTransfer } from "./quote.ts";

/** What the service is built from. `merchant` tells who is calling; it throws when that is not a merchant. */
export type MerchantTransferServiceSources = QuoteSources & {
  readonly merchant: (context: HandlerContext) => MerchantPrincipal;
};

/** The service of merchant transfers as Connect serves it. */
export function createMerchantTransferService(
  sources: MerchantTransferServiceSources,
): Partial<ServiceImpl<typeof MerchantTransferService>> {
  return {
    async calculateTransfer(request, context) {
      const { merchantId, environment } = sources.merchant(context);
      const { currencyCode, network, amount } = request;
      const quote = await quoteTransfer(sources, {
        merchantId,
        environment,
        currencyCode,
        network,
        amountText: amount,
      });
      return create(CalculateTransferResponseSchema, { quote: toProtoQuote(quote) });
    },

    async listBalances(_request, context) {
      const balances = await listBalances(sources.database, sources.merchant(context).merchantId);
      return create(ListBalancesResponseSchema, {
        balances: balances.map((balance) => create(MerchantBalanceSchema, balance)),
      });
    },
  };
}

function toProtoQuote(quote: Quote): QuoteMessage {
  return create(QuoteSchema, {
    currencyCode: quote.coin.currencyCode,
    network: quote.coin.network,
    receivedAmount: formatMoney(quote.received),
    fee: formatMoney(quote.fee),
    totalAmount: formatMoney(quote.total),
  });
}
