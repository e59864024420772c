// Reads the operators' first page and translates it to its contract.

import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { findTopUps } from "../../billing/top-ups/find-top-ups.ts";
import type { Database } from "../../database/database.ts";
import { billingDay, DAY_MS, startOfBillingDay } from "../../kernel/clock.ts";
import { codeOf, formatMoney, IDR } from "../../kernel/money.ts";
import { readAdmissionStop } from "../../ledger/admission-switch.ts";
import { readAuditRuns } from "../../ledger/audit/run.ts";
import { type MoneyFlow, readMoneyFlows, readOpenHolds } from "../../ledger/money-flows.ts";
import { readWalletFacts } from "../../merchant/payouts/payout-facts.ts";
import { listStops } from "../../merchant/payouts/payout-stops.ts";
import { findTransfers } from "../../merchant/transfers/transfer-search-store.ts";
import { countPending } from "../second-person/approval-store.ts";
import { moment, type Parts, rupiah } from "./proto-parts.ts";

/** No count goes further: the list behind it shows the rest. */
const MOST_COUNTED = 100;
const WEEK_DAYS = 7;

/** Reads every figure of the page. Errors: ServiceBusy when one takes too long. */
export async function readOverview(
  { pool, isSellerMissing }: Pick<Database, "pool"> & Pick<Parts, "isSellerMissing">,
  nowMs: number,
) {
  const todayFromMs = startOfBillingDay(billingDay(nowMs));
  const weekFromMs = todayFromMs - (WEEK_DAYS - 1) * DAY_MS;
  const [{ flows, isComplete }, holds, decisions, sellerMissing] = await Promise.all([
    readMoneyFlows(pool, { weekFromMs, todayFromMs }),
    readOpenHolds(pool),
    readDecisions(pool),
    isSellerMissing(),
  ]);
  return {
    takenAt: timestampFromDate(new Date(nowMs)),
    firstDay: billingDay(weekFromMs),
    flows: rupiahFirst(flows).map(toProtoFlow),
    flowsComplete: isComplete,
    holds: { requests: holds.requests, amount: rupiah(holds.amount), ...moment("oldestAt", holds.oldestAt) },
    decisions: { ...decisions, sellerMissing },
  };
}

/** Each count is of the list that the page leads to, by the same statement. */
async function readDecisions(pool: Database["pool"]) {
  const range = { beforeId: null, limit: MOST_COUNTED };
  const ofTopUps = { accountId: null, provider: null, state: null, needsAttention: true };
  const ofTransfers = { accountId: null, merchantId: null, environment: null, status: null, name: null };
  const [approvals, topUps, transfers, wallets, stops, stop, audits] = await Promise.all([
    countPending(pool),
    findTopUps(pool, { filter: ofTopUps, ...range }),
    findTransfers(pool, { ...ofTransfers, awaitsApproval: true, ...range }),
    readWalletFacts(pool),
    listStops(pool),
    readAdmissionStop(pool),
    readAuditRuns(pool),
  ]);
  return {
    approvals: Math.min(approvals, MOST_COUNTED),
    topUps: topUps.length,
    transfers: transfers.length,
    stoppedWallets: wallets.filter(({ isHalted }) => isHalted).length,
    payoutStops: stops.length,
    auditViolations: Math.min(Math.max(0, ...audits.map(({ violations }) => violations)), MOST_COUNTED),
    admissionStopped: stop !== null,
  };
}

const NO_RUPIAH: MoneyFlow = { asset: IDR, todayIn: 0n, todayOut: 0n, weekIn: 0n, weekOut: 0n };

function rupiahFirst(flows: readonly MoneyFlow[]): MoneyFlow[] {
  const rest = flows.filter(({ asset }) => asset !== IDR);
  return [flows.find(({ asset }) => asset === IDR) ?? NO_RUPIAH, ...rest];
}

function toProtoFlow({ asset, todayIn, todayOut, weekIn, weekOut }: MoneyFlow) {
  const shown = (units: bigint): string => formatMoney({ units, asset: asset });
  return {
    currencyCode: codeOf(asset),
    todayIn: shown(todayIn),
    todayOut: shown(todayOut),
    weekIn: shown(weekIn),
    weekOut: shown(weekOut),
  };
}
