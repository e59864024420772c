// BillingService: translation between the contract and the use cases of this room, but for top-ups (proto-top-ups.ts).

import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type { BillingService } from "#gen/saldo/billing/v1/billing_service_pb.ts";
import type { Database } from "../database/database.ts";
import { formatMoney, idr } from "../kernel/money.ts";
import { readBalance } from "../ledger/accounts.ts";
import { listLedgerEntries } from "./ledger-entries.ts";
import { exportLedger } from "./ledger-export.ts";
import { readLowBalanceAlert, readThreshold, setLowBalanceAlert } from "./low-balance.ts";
import {
  fromProtoFilter,
  fromProtoGrouping,
  toProtoAlert,
  toProtoEntry,
  toProtoSummary,
  toProtoUsage,
} from "./proto-usage.ts";
import { summarizeUsage } from "./summary.ts";
import { DEFAULT_TIME_ZONE } from "./time-zone.ts";
import { exportUsage } from "./usage-export.ts";
import { getUsageRecord, listUsage } from "./usage.ts";
import { readOwed } from "./top-ups/receivables.ts";

const DEFAULT_PAGE_SIZE = 50;

export type BillingServiceDependencies = {
  readonly database: Database;
  /** The account a call acts for. */
  readonly accountOf: (context: HandlerContext) => string;
};

type Methods =
  | "getBalance"
  | "listUsage"
  | "getUsageRecord"
  | "summarizeUsage"
  | "exportUsage"
  | "listLedgerEntries"
  | "exportLedger"
  | "getLowBalanceAlert"
  | "setLowBalanceAlert";

/** Makes the service. Every method acts on the caller's own account; what is another account's is not found. */
export function createBillingService({
  database,
  accountOf,
}: BillingServiceDependencies): Pick<ServiceImpl<typeof BillingService>, Methods> {
  const { pool } = database;
  return {
    async getBalance(_request, context) {
      const accountId = accountOf(context);
      const [{ available, held, posted }, owed] = await Promise.all([
        readBalance(pool, accountId),
        readOwed(pool, accountId),
      ]);
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

    async listUsage({ filter, pageSize, pageToken }, context) {
      const page = await listUsage(pool, {
        accountId: accountOf(context),
        filter: fromProtoFilter(filter),
        pageSize: pageSize || DEFAULT_PAGE_SIZE,
        pageToken,
      });
      return { records: page.records.map(toProtoUsage), nextPageToken: page.nextPageToken };
    },

    async getUsageRecord({ requestId }, context) {
      const { record, credited } = await getUsageRecord(pool, { accountId: accountOf(context), requestId });
      return { record: toProtoUsage(record), credited: formatMoney(idr(credited)) };
    },

    async summarizeUsage({ filter, timeZone, grouping }, context) {
      const summary = await summarizeUsage(pool, {
        accountId: accountOf(context),
        filter: fromProtoFilter(filter),
        timeZone: timeZone || DEFAULT_TIME_ZONE,
        grouping: fromProtoGrouping(grouping),
      });
      return toProtoSummary(summary);
    },

    async *exportUsage({ filter, timeZone }, context) {
      const pieces = exportUsage(pool, {
        accountId: accountOf(context),
        filter: fromProtoFilter(filter),
        timeZone: timeZone || DEFAULT_TIME_ZONE,
        signal: context.signal,
      });
      for await (const piece of pieces) yield { csv: Buffer.from(piece) };
    },

    async listLedgerEntries({ pageSize, pageToken }, context) {
      const accountId = accountOf(context);
      const page = await listLedgerEntries(pool, { accountId, pageSize: pageSize || DEFAULT_PAGE_SIZE, pageToken });
      return { entries: page.entries.map(toProtoEntry), nextPageToken: page.nextPageToken };
    },

    async *exportLedger({ timeZone }, context) {
      const pieces = exportLedger(pool, {
        accountId: accountOf(context),
        timeZone: timeZone || DEFAULT_TIME_ZONE,
        signal: context.signal,
      });
      for await (const piece of pieces) yield { csv: Buffer.from(piece) };
    },

    async getLowBalanceAlert(_request, context) {
      return { alert: toProtoAlert(await readLowBalanceAlert(pool, accountOf(context))) };
    },

    async setLowBalanceAlert({ threshold }, context) {
      const alert = await setLowBalanceAlert(pool, {
        accountId: accountOf(context),
        threshold: readThreshold(threshold),
      });
      return { alert: toProtoAlert(alert) };
    },
  };
}
