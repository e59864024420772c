// One command that needs approval, with everything that the deciding operator needs, and the decision.

import { useState } from "react";
import { ApprovalService } from "#gen/saldo/operator/v1/approval_service_pb.ts";
import { type Approval, ApprovalCommand, ApprovalState } from "#gen/saldo/operator/v1/approval_pb.ts";
import { UNKNOWN } from "../../../i18n/format.ts";
import { useMessages } from "../../../i18n/language.tsx";
import { Button } from "../../../components/button.tsx";
import { CodeBlock } from "../../../components/copy.tsx";
import { Fact, Facts, Mono } from "../../../components/facts.tsx";
import { OPERATOR_MESSAGES } from "../operator-messages.ts";
import { AccountWithId } from "../components/account-name.tsx";
import { useAssetAmount, useWhen } from "../components/amounts.ts";
import { commandTexts, ReasonDialog, useNotifyOutcome, useCommand } from "../components/command.tsx";
import { Review } from "../components/review.tsx";
import { APPROVALS_MESSAGES, nameOfCommand } from "./approvals-messages.ts";

/** Commands whose subject is an account. */
const ON_ACCOUNTS: readonly ApprovalCommand[] = [ApprovalCommand.ACCOUNT_CREDIT, ApprovalCommand.ACCOUNT_ADJUST];

type Decision = "approve" | "refuse";
type ApprovalSheetProps = { readonly approval: Approval; readonly onDecided: () => void };

/** An approval, and the possible decisions. */
export function ApprovalSheet({ approval, onDecided }: ApprovalSheetProps) {
  const messages = useMessages(APPROVALS_MESSAGES);
  const when = useWhen();
  const [decision, setDecision] = useState<Decision | null>(null);
  const isPending = approval.state === ApprovalState.PENDING;
  return (
    <div className="flex flex-col gap-5">
      <Facts>
        <ApprovalFacts approval={approval} />
        <Fact name={messages.requestedAt}>{when(approval.requestedAt)}</Fact>
        <Fact name={messages.expiresAt}>{when(approval.expiresAt)}</Fact>
        {approval.decidedBy === "" ? null : (
          <>
            <Fact name={messages.decidedBy}>{approval.decidedBy}</Fact>
            <Fact name={messages.decidedAt}>{when(approval.decidedAt)}</Fact>
            <Fact name={messages.decisionReason}>
              {approval.decisionReason === "" ? UNKNOWN : approval.decisionReason}
            </Fact>
          </>
        )}
        <Fact name={messages.id}>
          <Mono>{approval.id}</Mono>
        </Fact>
      </Facts>
      {approval.facts === "{}" ? null : <CodeBlock code={readable(approval.facts)} what={messages.facts} />}
      {isPending && approval.isOwn ? <p className="text-muted">{messages.own}</p> : null}
      {isPending ? (
        <div className="flex flex-wrap gap-2">
          {approval.isOwn ? null : (
            <Button variant="action" onClick={() => setDecision("approve")}>
              {messages.approve}
            </Button>
          )}
          <Button onClick={() => setDecision("refuse")}>{approval.isOwn ? messages.withdraw : messages.refuse}</Button>
        </div>
      ) : null}
      {decision === null ? null : (
        <DecideDialog approval={approval} decision={decision} onDecided={onDecided} onClose={() => setDecision(null)} />
      )}
    </div>
  );
}

function ApprovalFacts({ approval }: { readonly approval: Approval }) {
  const messages = useMessages(APPROVALS_MESSAGES);
  const shared = useMessages(OPERATOR_MESSAGES);
  const amountOf = useAssetAmount();
  return (
    <>
      <Fact name={messages.command}>{messages[nameOfCommand(approval.command)]}</Fact>
      <Fact name={messages.subject}>
        {ON_ACCOUNTS.includes(approval.command) ? (
          <AccountWithId id={approval.subject} />
        ) : (
          <span className="break-all">
            <Mono>{approval.subject}</Mono>
          </span>
        )}
      </Fact>
      {approval.amount === "" ? null : (
        <Fact name={messages.amount}>
          <strong className="text-lg font-semibold">{amountOf(approval.amount, approval.currencyCode)}</strong>
        </Fact>
      )}
      <Fact name={messages.requestedBy}>{approval.requestedBy}</Fact>
      <Fact name={shared.reason}>{approval.reason === "" ? UNKNOWN : approval.reason}</Fact>
    </>
  );
}

function DecideDialog({
  approval,
  decision,
  onDecided,
  onClose,
}: ApprovalSheetProps & { readonly decision: Decision; readonly onClose: () => void }) {
  const messages = useMessages(APPROVALS_MESSAGES);
  const notifyOutcome = useNotifyOutcome();
  const approve = useCommand(ApprovalService.method.grantApproval);
  const refuse = useCommand(ApprovalService.method.refuseApproval);
  const isApproval = decision === "approve";
  const send = async (reason: string) => {
    notifyOutcome(await (isApproval ? approve : refuse).mutateAsync({ approvalId: approval.id, reason }));
    onDecided();
  };
  return (
    <ReasonDialog
      {...commandTexts(messages, decision)}
      onClose={onClose}
      isDanger={!isApproval}
      isReasonRequired={!isApproval}
      onCommand={send}
      review={() => (
        <Review>
          <ApprovalFacts approval={approval} />
        </Review>
      )}
    />
  );
}

/** JSON over several lines. */
function readable(json: string): string {
  return JSON.stringify(JSON.parse(json), null, 2);
}
