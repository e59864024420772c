import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { ApprovalService } from "#gen/saldo/operator/v1/approval_service_pb.ts";
import { ApprovalCommand as ProtoCommand, ApprovalState as ProtoState } from "#gen/saldo/operator/v1/approval_pb.ts";
import { listApprovals, type ApprovalState, type StoredApproval } from "../second-person/approval-store.ts";
import { type CommandKind, isCommandKind } from "../second-person/command-kinds.ts";
import { readPage } from "../../kernel/paging.ts";
import { grantApproval, refuseApproval } from "../second-person/approvals.ts";
import { moment, orNull, type Parts } from "./proto-parts.ts";

const states = {
  pending: ProtoState.PENDING,
  approved: ProtoState.APPROVED,
  refused: ProtoState.REFUSED,
  expired: ProtoState.EXPIRED,
} as const satisfies Record<ApprovalState, ProtoState>;

const commands = {
  "account credit": ProtoCommand.ACCOUNT_CREDIT,
  "account adjust": ProtoCommand.ACCOUNT_ADJUST,
  "usage credit": ProtoCommand.USAGE_CREDIT,
  "merchant credit": ProtoCommand.MERCHANT_CREDIT,
  "merchant limit": ProtoCommand.MERCHANT_LIMIT,
  "transfer approve": ProtoCommand.TRANSFER_APPROVE,
} as const satisfies Record<CommandKind, ProtoCommand>;

/** ApprovalService: commands that wait for a second operator. */
export function createApprovalService({
  database,
  operatorContext,
}: Pick<Parts, "database" | "operatorContext">): ServiceImpl<typeof ApprovalService> {
  return {
    async listApprovals(request, context) {
      const { operator } = operatorContext(context);
      const state = (Object.keys(states) as ApprovalState[]).find((each) => states[each] === request.state) ?? null;
      const page = await readPage(
        request,
        (range) => listApprovals(database.pool, { state, ...range }),
        ({ approvalId }) => approvalId,
      );
      return {
        approvals: page.items.map((item) => toProtoApproval(item, operator)),
        nextPageToken: page.nextPageToken,
      };
    },

    async grantApproval({ approvalId, reason }, context) {
      const by = operatorContext(context);
      const { approval, isNew } = await grantApproval(by, { approvalId, reason: orNull(reason) });
      return { approval: toProtoApproval(approval, by.operator), isNew };
    },

    async refuseApproval({ approvalId, reason }, context) {
      const by = operatorContext(context);
      const { approval, isNew } = await refuseApproval(by, { approvalId, reason });
      return { approval: toProtoApproval(approval, by.operator), isNew };
    },
  };
}

function toProtoApproval(approval: StoredApproval, caller: string) {
  const { currencyCode = "", amount = "", ...facts } = approval.facts;
  return {
    id: approval.approvalId,
    command: isCommandKind(approval.kind) ? commands[approval.kind] : ProtoCommand.UNSPECIFIED,
    subject: approval.subject,
    currencyCode: String(currencyCode),
    amount: String(amount),
    facts: JSON.stringify(facts),
    reason: approval.reason ?? "",
    requestedBy: approval.requestedBy,
    requestedAt: timestampFromDate(approval.requestedAt),
    expiresAt: timestampFromDate(approval.expiresAt),
    state: states[approval.state],
    decidedBy: approval.decidedBy ?? "",
    ...moment("decidedAt", approval.decidedAt),
    decisionReason: approval.decisionReason ?? "",
    isOwn: approval.requestedBy.toLowerCase() === caller.toLowerCase(),
  };
}
