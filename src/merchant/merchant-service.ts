// MerchantService: translation between the contract and the use cases of this room, for the account of a merchant.

import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type { PoolClient } from "pg";
import type { MerchantService } from "#gen/saldo/merchant/v1/merchant_service_pb.ts";
import type { Environment } from "../identity/principal.ts";
import { invariant } from "../kernel/invariant.ts";
import type { OrderSources } from "./transfers/create-transfer.ts";
import { issueOwnPair, listPairs, revokeOwnPair } from "./merchants/credentials.ts";
import { type Coin, coins } from "./chains/currencies.ts";
import { useFaucet } from "./merchants/faucet.ts";
import { listLimits } from "./merchants/limits.ts";
import { listMerchants, openMerchant } from "./merchants/merchants.ts";
import { fromProtoEnvironment, protoEnvironment } from "./proto-environment.ts";
import { toProtoLimit } from "./proto-limit.ts";
import type { PairSummary } from "./merchants/pair-store.ts";
import { type MerchantSummary, requireMerchantOf } from "./merchants/store.ts";

/** The dependencies of the service. */
export type MerchantServiceSources = Pick<OrderSources, "database" | "isServed"> & {
  /** The account that a call acts for. */
  readonly accountOf: (context: HandlerContext) => string;
  /** The member who calls. Null: a service calls. */
  readonly memberOf: (context: HandlerContext) => Maker | null;
  /** Throws unless a member may make pairs now; called behind the lock of the account. */
  readonly requireRole: (client: PoolClient, member: Maker) => Promise<void>;
};

type Maker = { readonly accountId: string; readonly personId: string };

/** The service as Connect serves it. */
export function createMerchantService({
  database,
  isServed,
  accountOf,
  memberOf,
  requireRole,
}: MerchantServiceSources): ServiceImpl<typeof MerchantService> {
  const { pool } = database;
  const makerOf = (context: HandlerContext) => {
    const member = memberOf(context);
    if (member === null) return {};
    return { maker: { personId: member.personId, requireRole: (client: PoolClient) => requireRole(client, member) } };
  };
  const requireOwn = (context: HandlerContext, merchantId: string): Promise<Environment> =>
    requireMerchantOf(pool, { merchantId, accountId: accountOf(context) });
  return {
    async createMerchant(request, context) {
      const accountId = accountOf(context);
      const environment = fromProtoEnvironment(request.environment);
      const issued = await openMerchant({ database, isServed }, { accountId, environment, ...makerOf(context) });
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
      const order = { accountId: accountOf(context), merchantId, ...makerOf(context) };
      const { issued, pair } = await issueOwnPair(database, order);
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

    async listLimits({ merchantId }, context) {
      await requireOwn(context, merchantId);
      return { limits: (await listLimits(database, merchantId)).map(toProtoLimit) };
    },

    async listCurrencies(request) {
      const environment = fromProtoEnvironment(request.environment);
      const served = coins.filter(({ currencyCode, network }) => isServed(currencyCode, network, environment));
      return { currencies: toProtoCurrencies(served) };
    },
  };
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
