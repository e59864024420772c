import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { LedgerService } from "#gen/saldo/operator/v1/ledger_service_pb.ts";
import { AuditKind as ProtoAuditKind } from "#gen/saldo/operator/v1/audit_pb.ts";
import type { PostingFilter as ProtoFilter } from "#gen/saldo/operator/v1/ledger_pb.ts";
import { reportMargin } from "../../billing/usage/margin.ts";
import { NotFound } from "../../kernel/errors.ts";
import { formatMoney } from "../../kernel/money.ts";
import {
  classifyAccounts,
  findPostings,
  type FoundPosting,
  type PostingFilter,
  readGroup,
} from "../../ledger/find-postings.ts";
import { type AuditRun, readAuditRuns } from "../../ledger/audit/run.ts";
import { readTrialBalance, type TrialBalanceRow, type TrialBalanceSum } from "../../ledger/trial-balance.ts";
import { readPage } from "../../kernel/paging.ts";
import { fromProtoGroup, requireMarginDays, toProtoMargin } from "./proto-margin.ts";
import { given, moment, type Parts, timeRange } from "./proto-parts.ts";

/** LedgerService: trial balance, postings, audits and the margin. */
export function createLedgerService({
  database: { pool, reads },
}: Pick<Parts, "database">): ServiceImpl<typeof LedgerService> {
  async function toProtoPostings(postings: readonly FoundPosting[]) {
    const classOf = await classifyAccounts(
      pool,
      postings.flatMap(({ debit, credit }) => [debit, credit]),
    );
    return postings.map((posting) => ({
      id: posting.id,
      groupId: posting.groupId,
      asset: posting.asset,
      debit: { id: posting.debit, class: classOf(posting.debit) },
      credit: { id: posting.credit, class: classOf(posting.credit) },
      amount: formatMoney({ units: posting.amount, asset: posting.asset }),
      reason: posting.reason,
      reference: posting.reference ?? "",
      note: posting.note ?? "",
      postedAt: timestampFromDate(posting.postedAt),
    }));
  }

  return {
    async getTrialBalance() {
      const { takenAt, rows, sums, isBalanced } = await readTrialBalance(pool);
      return {
        takenAt: timestampFromDate(takenAt),
        rows: rows.map(toProtoRow),
        sums: sums.map(toProtoSum),
        isBalanced,
      };
    },

    async listPostings(request) {
      const filter = fromProtoFilter(request.filter);
      const page = await readPage(
        request,
        (range) => findPostings(pool, { filter, ...range }),
        ({ id }) => id,
      );
      return { postings: await toProtoPostings(page.items), nextPageToken: page.nextPageToken };
    },

    async getPostingGroup({ groupId }) {
      const postings = await readGroup(pool, groupId);
      if (postings.length === 0) throw new NotFound("There are no postings of this group.");
      return { postings: await toProtoPostings(postings) };
    },

    async listAudits() {
      return { audits: (await readAuditRuns(pool)).map(toProtoAudit) };
    },

    async reportMargin({ from, to, by }) {
      requireMarginDays(from, to);
      const read = reads.beginRead();
      const report = toProtoMargin(await reportMargin(read, { from, to, by: fromProtoGroup(by) }));
      return { ...report, ...moment("asOf", read.asOf) };
    },
  };
}

function fromProtoFilter(filter: ProtoFilter | undefined): PostingFilter {
  return {
    ...given("accountId", filter?.accountId),
    ...given("reason", filter?.reason),
    ...given("reference", filter?.reference),
    ...given("groupId", filter?.groupId),
    ...given("asset", filter?.asset),
    ...timeRange(filter),
  };
}

function toProtoRow({ asset, accountClass, debits, credits, kept }: TrialBalanceRow) {
  return {
    asset,
    class: accountClass,
    debits: formatMoney({ units: debits, asset }),
    credits: formatMoney({ units: credits, asset }),
    balance: formatMoney({ units: credits - debits, asset }),
    ...(kept === null ? {} : { keptBalance: formatMoney({ units: kept, asset }) }),
  };
}

function toProtoSum({ asset, debits, credits, balance }: TrialBalanceSum) {
  return {
    asset,
    debits: formatMoney({ units: debits, asset }),
    credits: formatMoney({ units: credits, asset }),
    balance: formatMoney({ units: balance, asset }),
  };
}

const protoAuditKind = {
  incremental: ProtoAuditKind.INCREMENTAL,
  full: ProtoAuditKind.FULL,
} as const satisfies Record<AuditRun["kind"], ProtoAuditKind>;

function toProtoAudit({ kind, startedAt, finishedAt, coveredAt, violations, found }: AuditRun) {
  return {
    kind: protoAuditKind[kind],
    ...moment("startedAt", startedAt),
    ...moment("finishedAt", finishedAt),
    ...moment("coveredUntil", coveredAt),
    violationCount: violations,
    violations: found.map((violation) => ({ ...violation })),
  };
}
