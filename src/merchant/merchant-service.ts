// MerchantService: translation between the contract and the use cases of this room, for the account of a merchant and
// for operators. Callbacks are in callback-service.ts.

import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { Environment as ProtoEnvironment } from "#gen/saldo/merchant/v1/merchant_pb.ts";
import type { MerchantService } from "#gen/saldo/merchant/v1/merchant_service_pb.ts";
import type { Environment } from "../identity/principal.ts";
import { ValidationError } from "../kernel/errors.ts";
import { invariant } from "../kernel/invariant.ts";
import { createTransfer, type OrderSources, quoteTo } from "./transfers/create-transfer.ts";
import { issueOwnPair, listPairs, revokeOwnPair } from "./merchants/credentials.ts";
import { type Coin, coins } from "./chains/currencies.ts";
import { useFaucet } from "./merchants/faucet.ts";
import { type LimitOrder, listLimits, type ShownLimits } from "./merchants/limits.ts";
import { listBalances, listMerchants, openMerchant } from "./merchants/merchants.ts";
import { toProtoQuote, toProtoStatement, toProtoTransfer } from "./proto-transfer.ts";
import { quoteTransfer } from "./transfers/quote.ts";
import { type ReadPayoutAttempts, readStatement } from "./transfers/statement.ts";
import type { PairSummary } from "./merchants/pair-store.ts";
import { type MerchantSummary, requireMerchantOf } from "./merchants/store.ts";
import {
  cancelTransfer,
  type HasSigningBegun,
  listAllTransfers,
  listMerchantTransfers,
  type MovedTransfer,
  type TransferScope,
  withHistory,
} from "./transfers/transfers.ts";

/** Operators' orders about transfers; each one is recorded with its operator. */
export type TransferOrders = {
  /** Limits null: the order waits for a second operator. */
  setLimits(
    context: HandlerContext,
    order: LimitOrder,
  ): Promise<{ readonly limits: ShownLimits | null; readonly pendingOrderId: string }>;
  approve(context: HandlerContext, order: { transferId: string; note: string }): Promise<MovedTransfer>;
  reject(context: HandlerContext, order: { transferId: string; reason: string }): Promise<MovedTransfer>;
};

/** The dependencies of the service. */
export type MerchantServiceSources = OrderSources & {
  /** The account that a call acts for. */
  readonly accountOf: (context: HandlerContext) => string;
  /** The transfers that a call may see. */
  readonly scopeOf: (context: HandlerContext) => TransferScope;
  readonly orders: TransferOrders;
  readonly hasSigningBegun: HasSigningBegun;
  readonly payoutAttempts: ReadPayoutAttempts;
};

type CallbackMethods = "getCallbackSettings" | "updateCallbackSettings" | "listCallbackDeliveries" | "resendCallback";

/** The service as Connect serves it, without the callback methods. */
export function createMerchantService(
  sources: MerchantServiceSources,
): Omit<ServiceImpl<typeof MerchantService>, CallbackMethods> {
  return { ...merchantMethods(sources), ...transferMethods(sources), ...operatorMethods(sources) };
}

function merchantMethods({ database, isServed, accountOf }: MerchantServiceSources) {
  const { pool } = database;
  const requireOwn = (context: HandlerContext, merchantId: string): Promise<Environment> =>
    requireMerchantOf(pool, { merchantId, accountId: accountOf(context) });
  return {
    async createMerchant(request, context) {
      const accountId = accountOf(context);
      const environment = fromProtoEnvironment(request.environment);
      const issued = await openMerchant({ database, isServed }, { accountId, environment });
      const merchant = (await listMerchants(database, accountId)).find((own) => own.merchantId === issued.merchantId);
      const [pair] = await listPairs(database, issued.merchantId);
      invariant(merchant !== undefined && pair !== undefined, "a merchant that was made is listed, with its pair");
      const { apiKey, secretKey } = issued;
      return { merchant: toProtoMerchant(merchant), credential: toProtoCredential(pair), apiKey, secretKey };
    },

    async listMerchants(_request, context) {
      return { merchants: (await listMerchants(database, accountOf(context))).map(toProtoMerchant) };
    },

    async createCredential({ merchantId }, context) {
      const { issued, pair } = await issueOwnPair(database, { accountId: accountOf(context), merchantId });
      return { credential: toProtoCredential(pair), apiKey: issued.apiKey, secretKey: issued.secretKey };
    },

    async listCredentials({ merchantId }, context) {
      await requireOwn(context, merchantId);
      return { credentials: (await listPairs(database, merchantId)).map(toProtoCredential) };
    },

    async revokeCredential({ merchantId, credentialId: pairId }, context) {
      const pair = await revokeOwnPair(database, { accountId: accountOf(context), merchantId, pairId });
      return { credential: toProtoCredential(pair) };
    },

    async useFaucet({ merchantId, currencyCode, amount: amountText, network }, context) {
      const order = { accountId: accountOf(context), merchantId, currencyCode, amountText, network };
      return { balance: await useFaucet(database, order) };
    },

    async listMerchantBalances({ merchantId }, context) {
      await requireOwn(context, merchantId);
      return { balances: await listBalances(database, merchantId) };
    },

    async listLimits({ merchantId }, context) {
      await requireOwn(context, merchantId);
      return { limits: (await listLimits(database, merchantId)).map(toProtoLimit) };
    },
  } satisfies Partial<ServiceImpl<typeof MerchantService>>;
}

function transferMethods(sources: MerchantServiceSources) {
  const { database, accountOf, hasSigningBegun, isServed } = sources;
  const requireOwn = (context: HandlerContext, merchantId: string): Promise<Environment> =>
    requireMerchantOf(database.pool, { merchantId, accountId: accountOf(context) });
  return {
    async listCurrencies(request) {
      const environment = fromProtoEnvironment(request.environment);
      const served = coins.filter(({ currencyCode, network }) => isServed(currencyCode, network, environment));
      return { currencies: toProtoCurrencies(served) };
    },

    async calculateMerchantTransfer({ merchantId, currencyCode, amount: amountText, network, address }, context) {
      const environment = await requireOwn(context, merchantId);
      const request = { merchantId, environment, currencyCode, amountText, network };
      if (address === "") return { quote: toProtoQuote(await quoteTransfer(sources, request)) };
      return { quote: toProtoQuote((await quoteTo(sources, { ...request, address })).quote) };
    },

    async createMerchantTransfer({ merchantId, order }, context) {
      if (order === undefined)
        throw new ValidationError([{ field: "order", rule: "required", message: "is required" }]);
      const environment = await requireOwn(context, merchantId);
      const { externalId, currencyCode, amount: amountText, address, network } = order;
      const { transfer, isReplayed } = await createTransfer(sources, {
        merchantId,
        environment,
        externalId,
        currencyCode,
        amountText,
        address,
        network,
      });
      const { history } = await withHistory(database, transfer);
      return { transfer: toProtoTransfer(transfer, history), replayed: isReplayed };
    },

    async listMerchantTransfers({ merchantId, status, pageSize, pageToken }, context) {
      await requireOwn(context, merchantId);
      const page = await listMerchantTransfers(database, { merchantId, status, pageSize, pageToken });
      return { ...page, transfers: page.transfers.map((transfer) => toProtoTransfer(transfer)) };
    },

    async cancelMerchantTransfer({ merchantId, transferId }, context) {
      await requireOwn(context, merchantId);
      const scope = { merchantId };
      const { transfer, history } = await cancelTransfer(database, { scope, transferId, hasSigningBegun });
      return { transfer: toProtoTransfer(transfer, history) };
    },

    async getTransferStatement({ transferId }, context) {
      return { statement: toProtoStatement(await readStatement(sources, sources.scopeOf(context), transferId)) };
    },
  } satisfies Partial<ServiceImpl<typeof MerchantService>>;
}

function operatorMethods({ database, orders }: MerchantServiceSources) {
  const shown = async ({ transfer }: MovedTransfer) => {
    const { history } = await withHistory(database, transfer);
    return { transfer: toProtoTransfer(transfer, history) };
  };
  return {
    async setLimit({ merchantId, currencyCode, perTransfer, daily, approvalAbove }, context) {
      const order = { merchantId, currencyCode, perTransfer, daily, approvalAbove };
      const { limits, pendingOrderId } = await orders.setLimits(context, order);
      return { ...(limits === null ? {} : { limit: toProtoLimit(limits) }), pendingOrderId };
    },

    async listAllTransfers({ merchantId, status, pageSize, pageToken }) {
      const page = await listAllTransfers(database, { merchantId, status, pageSize, pageToken });
      return {
        nextPageToken: page.nextPageToken,
        transfers: page.transfers.map(({ transfer, merchant, accountId }) => ({
          transfer: toProtoTransfer(transfer),
          merchant: toProtoMerchant(merchant),
          accountId,
        })),
      };
    },

    async approveTransfer({ transferId, note }, context) {
      return shown(await orders.approve(context, { transferId, note }));
    },

    async rejectTransfer({ transferId, reason }, context) {
      return shown(await orders.reject(context, { transferId, reason }));
    },
  } satisfies Partial<ServiceImpl<typeof MerchantService>>;
}

const protoEnvironment = {
  sandbox: ProtoEnvironment.SANDBOX,
  production: ProtoEnvironment.PRODUCTION,
} as const satisfies Record<Environment, ProtoEnvironment>;

function fromProtoEnvironment(environment: ProtoEnvironment): Environment {
  if (environment === ProtoEnvironment.SANDBOX) return "sandbox";
  if (environment === ProtoEnvironment.PRODUCTION) return "production";
  const message = "must be sandbox or production";
  throw new ValidationError([{ field: "environment", rule: "enum.defined_only", message }]);
}

function toProtoMerchant({ merchantId: id, environment, createdAt }: MerchantSummary) {
  return { id, environment: protoEnvironment[environment], createdAt: timestampFromDate(createdAt) };
}

function toProtoCredential({ pairId: id, keyPrefix, createdAt, revokedAt }: PairSummary) {
  return {
    id,
    keyPrefix,
    createdAt: timestampFromDate(createdAt),
    ...(revokedAt === null ? {} : { revokedAt: timestampFromDate(revokedAt) }),
  };
}

function toProtoCurrencies(served: readonly Coin[]) {
  const byCode = Map.groupBy(served, ({ currencyCode }) => currencyCode);
  return [...byCode.keys()].toSorted().map((code) => ({
    code,
    networks: (byCode.get(code) ?? []).map(({ network, decimals }) => ({ network, decimals })),
  }));
}

function toProtoLimit({ currencyCode, perTransfer, daily, approvalAbove, usedToday }: ShownLimits) {
  return {
    currencyCode,
    usedToday,
    ...(perTransfer === null ? {} : { perTransfer }),
    ...(daily === null ? {} : { daily }),
    ...(approvalAbove === null ? {} : { approvalAbove }),
  };
}
