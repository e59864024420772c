// BillingService: translation between the contract and the use cases of this room, but for top-ups (proto-top-ups.ts).

import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type { BillingService } from "#gen/saldo/billing/v1/billing_service_pb.ts";
import { type UsageFilter as ProtoUsageFilter, UsageGrouping } from "#gen/saldo/billing/v1/usage_pb.ts";
import type { Database } from "../database/database.ts";
import type { RecordChange } from "../database/record-change.ts";
import { formatMoney, idr } from "../kernel/money.ts";
import type { LaggingRead } from "../database/lagging-reads.ts";
import { readBalance } from "../ledger/accounts.ts";
import { listLedgerEntries } from "./usage/ledger-entries.ts";
import { toProtoSeal } from "./proto-seal.ts";
import { lastRoot, lookOf } from "./proof/seal-store.ts";
import { exportStatement, inPieces } from "./proof/statement.ts";
import { exportLedger } from "./usage/ledger-export.ts";
import { readLowBalanceAlert, readThreshold, setLowBalanceAlert } from "./low-balance-alert.ts";
import {
  AS_OF_HEADER,
  fromProtoFilter,
  fromProtoGrouping,
  toProtoAlert,
  toProtoAsOf,
  toProtoEntry,
  toProtoSummary,
  toProtoUsage,
} from "./proto-usage.ts";
import { groupByPerson, summarizeUsage } from "./usage/summary.ts";
import { DEFAULT_TIME_ZONE } from "./usage/time-zone.ts";
import { exportUsage, type KeyMembers, type KeyNames } from "./usage/usage-export.ts";
import { getUsageRecord, listUsage } from "./usage/usage.ts";

export type BillingServiceDependencies = {
  readonly database: Database;
  /** The connections for reading balances: keys ask for them beside their requests. Left out: those of everything else. */
  readonly requests?: Pick<Database, "pool">;
  /** The account a call acts for. */
  readonly accountOf: (context: HandlerContext) => string;
  /** Writes the line of a change in its transaction. */
  readonly recordChangeOf: (context: HandlerContext) => RecordChange;
  /** The keys whose usage the caller may see and that a person has made; empty: any person. Null: all of the account. */
  readonly visibleKeysOf: (context: HandlerContext, personId: string) => Promise<readonly string[] | null>;
  /** Whether an operator calls. Left out: no caller is one. */
  readonly isOperator?: (context: HandlerContext) => boolean;
  /** The names of an account's keys, for files. Left out: files have none. */
  readonly keyNames?: (accountId: string) => Promise<KeyNames>;
  /** The members who made an account's keys, for files. Left out: files name none. */
  readonly keyMembers?: (accountId: string) => Promise<KeyMembers>;
  /** Who made each key of an account, as far as a person did. Left out: no person did. */
  readonly keyMakers?: (accountId: string) => Promise<ReadonlyMap<string, string>>;
};

type Methods =
  | "getBalance"
  | "listUsage"
  | "getUsageRecord"
  | "summarizeUsage"
  | "exportUsage"
  | "listLedgerEntries"
  | "exportLedger"
  | "getSeal"
  | "exportStatement"
  | "getLowBalanceAlert"
  | "setLowBalanceAlert";

/** Makes the service. Every method acts on the caller's own account; data of another account is not found. */
export function createBillingService({
  database,
  requests = database,
  accountOf,
  recordChangeOf,
  visibleKeysOf,
  isOperator = () => false,
  keyNames = async () => new Map(),
  keyMembers = async () => new Map(),
  keyMakers = async () => new Map(),
}: BillingServiceDependencies): Pick<ServiceImpl<typeof BillingService>, Methods> {
  const { pool, reads } = database;
  /** A filter, narrowed to what the caller may see. */
  const visible = async (filter: ProtoUsageFilter | undefined, context: HandlerContext) => ({
    ...fromProtoFilter(filter),
    ...ofKeys(await visibleKeysOf(context, filter?.personId ?? "")),
  });
  return {
    async getBalance(_request, context) {
      const { available, held, posted, owed } = await readBalance(requests.pool, accountOf(context));
      return {
        balance: {
          currency: "IDR",
          available: formatMoney(idr(available)),
          held: formatMoney(idr(held)),
          posted: formatMoney(idr(posted)),
          owed: formatMoney(idr(owed)),
        },
      };
    },

    async listUsage({ filter, pageSize, pageToken, orderBy }, context) {
      const accountId = accountOf(context);
      const query = { accountId, filter: await visible(filter, context), pageSize, pageToken, orderBy };
      const read = reads.beginRead();
      const { items, nextPageToken } = await listUsage(read, query);
      const forOperator = isOperator(context);
      const records = items.map((record) => toProtoUsage(record, { forOperator }));
      return { records, nextPageToken, ...toProtoAsOf(read) };
    },

    async getUsageRecord({ requestId }, context) {
      const which = { accountId: accountOf(context), requestId, ...ofKeys(await visibleKeysOf(context, "")) };
      const { record, credited } = await getUsageRecord(pool, which);
      const forOperator = isOperator(context);
      return { record: toProtoUsage(record, { forOperator }), credited: formatMoney(idr(credited)) };
    },

    async summarizeUsage({ filter, timeZone, grouping }, context) {
      const read = reads.beginRead();
      const accountId = accountOf(context);
      const summary = await summarizeUsage(read, {
        accountId,
        filter: await visible(filter, context),
        timeZone: timeZone || DEFAULT_TIME_ZONE,
        grouping: fromProtoGrouping(grouping),
      });
      const shown =
        grouping === UsageGrouping.PERSON_AND_DAY ? groupByPerson(summary, await keyMakers(accountId)) : summary;
      return { ...toProtoSummary(shown), ...toProtoAsOf(read) };
    },

    async *exportUsage({ filter, timeZone }, context) {
      const accountId = accountOf(context);
      const [names, members] = await Promise.all([keyNames(accountId), keyMembers(accountId)]);
      const read = reads.beginRead();
      const pieces = exportUsage(read, {
        accountId,
        keyNames: names,
        keyMembers: members,
        filter: await visible(filter, context),
        timeZone: timeZone || DEFAULT_TIME_ZONE,
        signal: context.signal,
      });
      yield* toProtoFile(pieces, read, context);
    },

    async listLedgerEntries({ pageSize, pageToken }, context) {
      const accountId = accountOf(context);
      const { items, nextPageToken } = await listLedgerEntries(pool, { accountId, pageSize, pageToken });
      return { entries: items.map(toProtoEntry), nextPageToken };
    },

    async *exportLedger({ timeZone }, context) {
      const read = reads.beginRead();
      const pieces = exportLedger(read, {
        accountId: accountOf(context),
        timeZone: timeZone || DEFAULT_TIME_ZONE,
        signal: context.signal,
      });
      yield* toProtoFile(pieces, read, context);
    },

    getSeal: async () => toProtoSeal(await lastRoot(lookOf(pool))),

    async *exportStatement({ after, through }, context) {
      const statement = exportStatement(pool, {
        accountId: accountOf(context),
        ...(after && { after }),
        ...(through && { through }),
        signal: context.signal,
      });
      for await (const lines of inPieces(statement)) yield { lines };
    },

    async getLowBalanceAlert(_request, context) {
      return { alert: toProtoAlert(await readLowBalanceAlert(pool, accountOf(context))) };
    },

    async setLowBalanceAlert({ threshold }, context) {
      const wanted = { accountId: accountOf(context), threshold: readThreshold(threshold) };
      const alert = await setLowBalanceAlert(pool, wanted, recordChangeOf(context));
      return { alert: toProtoAlert(alert) };
    },
  };
}

function ofKeys(keys: readonly string[] | null): { ofKeys?: readonly string[] } {
  return keys === null ? {} : { ofKeys: keys };
}

/** The pieces of a file. Its header has the moment, which the first piece decides: it may have to come from the primary. */
async function* toProtoFile(
  pieces: AsyncIterable<string>,
  read: LaggingRead,
  { responseHeader }: Pick<HandlerContext, "responseHeader">,
): AsyncGenerator<{ csv: Uint8Array }, void> {
  for await (const piece of pieces) {
    if (read.asOf !== null && !responseHeader.has(AS_OF_HEADER))
      responseHeader.set(AS_OF_HEADER, read.asOf.toISOString());
    yield { csv: Buffer.from(piece) };
  }
}
