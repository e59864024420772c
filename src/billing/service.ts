// BillingService: translation between the contract and the use cases of this room. Top-ups, summaries, exports and the
// ledger's lines are in the contract and come with the accounts they belong to; until then they answer Unimplemented.

import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type { BillingService } from "#gen/saldo/billing/v1/billing_service_pb.ts";
import { UsageBasis as ProtoBasis, type UsageFilter as ProtoFilter } from "#gen/saldo/billing/v1/usage_pb.ts";
import type { Database } from "../database/database.ts";
import { timeOfUuidv7 } from "../kernel/ids.ts";
import { formatMoney, idr } from "../kernel/money.ts";
import { readBalance } from "../ledger/accounts.ts";
import type { UsageBasis } from "../ledger/ledger.ts";
import { listUsage, type UsageFilter, type UsageRecord } from "./usage.ts";

const DEFAULT_PAGE_SIZE = 50;

const protoBasis = {
  exact: ProtoBasis.EXACT,
  drained: ProtoBasis.DRAINED,
  estimated: ProtoBasis.ESTIMATED,
  recovered: ProtoBasis.RECOVERED,
  free: ProtoBasis.FREE,
} as const satisfies Record<UsageBasis, ProtoBasis>;

export type BillingServiceDependencies = {
  readonly database: Database;
  /** The account a call acts for. */
  readonly accountOf: (context: HandlerContext) => string;
};

export function createBillingService({
  database,
  accountOf,
}: BillingServiceDependencies): Pick<ServiceImpl<typeof BillingService>, "getBalance" | "listUsage"> {
  return {
    async getBalance(_request, context) {
      const { available, held, posted } = await readBalance(database.pool, accountOf(context));
      return {
        balance: {
          currency: "IDR",
          available: formatMoney(idr(available)),
          held: formatMoney(idr(held)),
          posted: formatMoney(idr(posted)),
        },
      };
    },

    async listUsage({ filter, pageSize, pageToken }, context) {
      const page = await listUsage(database.pool, {
        accountId: accountOf(context),
        filter: fromProtoFilter(filter),
        pageSize: pageSize === 0 ? DEFAULT_PAGE_SIZE : pageSize,
        pageToken,
      });
      return { records: page.records.map(toProtoUsage), nextPageToken: page.nextPageToken };
    },
  };
}

function fromProtoFilter(filter: ProtoFilter | undefined): UsageFilter {
  if (filter === undefined) return {};
  return {
    ...(filter.from === undefined ? {} : { fromMs: timestampMs(filter.from) }),
    ...(filter.until === undefined ? {} : { untilMs: timestampMs(filter.until) }),
    ...(filter.model === "" ? {} : { model: filter.model }),
    ...(filter.keyId === "" ? {} : { keyId: filter.keyId }),
  };
}

function toProtoUsage(record: UsageRecord) {
  const { inputPrice, outputPrice, cacheHitPrice, firstByteMs } = record;
  return {
    requestId: record.requestId,
    createdAt: timestampFromMs(timeOfUuidv7(record.requestId)),
    billingDay: record.billingDay,
    model: record.model,
    keyId: record.keyId,
    inputTokensUncached: record.inputTokensUncached,
    inputTokensCached: record.inputTokensCached,
    outputTokens: record.outputTokens,
    inputPrice: formatMoney(idr(inputPrice)),
    outputPrice: formatMoney(idr(outputPrice)),
    ...(cacheHitPrice === null ? {} : { cacheHitPrice: formatMoney(idr(cacheHitPrice)) }),
    cost: formatMoney(idr(record.cost)),
    charge: formatMoney(idr(record.charge)),
    basis: protoBasis[record.basis],
    streamed: record.streamed,
    durationMs: record.durationMs,
    ...(firstByteMs === null ? {} : { firstByteMs }),
    clamped: record.clamped,
  };
}
