// Approving and rejecting a transfer: a reason, a review, and the command.

import type { Transfer } from "#gen/saldo/merchant/v1/transfer_pb.ts";
import { TransferService } from "#gen/saldo/operator/v1/transfer_service_pb.ts";
import { factsOf } from "../../../api/transport.ts";
import { useFormats } from "../../../i18n/format.ts";
import { useMessages } from "../../../i18n/language.tsx";
import { Fact, Mono } from "../../../components/facts.tsx";
import { networkName } from "../../transfers/coins.ts";
import { TRANSFER_MESSAGES } from "../../transfers/transfer-messages.ts";
import { OPERATOR_MESSAGES } from "../operator-messages.ts";
import { commandTexts, ReasonDialog, useNotifyOutcome, useCommand } from "../components/command.tsx";
import { Review } from "../components/review.tsx";
import { TRANSFERS_MESSAGES } from "./transfers-messages.ts";

/** An operator's decision on a transfer. */
export type Decision = "approve" | "reject";

type DecisionDialogProps = {
  readonly transfer: Transfer;
  readonly decision: Decision;
  readonly onClose: () => void;
};

/** The dialog of a decision. A transfer that was already decided is shown as such. */
export function DecisionDialog({ transfer, decision, onClose }: DecisionDialogProps) {
  const messages = useMessages(TRANSFERS_MESSAGES);
  const notifyOutcome = useNotifyOutcome();
  const approve = useCommand(TransferService.method.approveTransfer);
  const reject = useCommand(TransferService.method.rejectTransfer);
  const isApproval = decision === "approve";
  const send = async (reason: string) => {
    const command = { transferId: transfer.id, reason };
    notifyOutcome(isApproval ? await approve.mutateAsync(command) : await reject.mutateAsync(command));
  };
  return (
    <ReasonDialog
      {...commandTexts(messages, decision)}
      onClose={onClose}
      isDanger={!isApproval}
      onCommand={send}
      onRefused={(error) => (isTooLate(error) ? <p className="text-muted">{messages.tooLate}</p> : null)}
      isReasonRequired
      hint={isApproval ? undefined : messages.rejectReasonHint}
      review={(reason) => <Reviewed transfer={transfer} reason={reason} />}
    />
  );
}

function isTooLate(error: unknown): boolean {
  return factsOf(error)?.details.some(({ rule }) => rule.startsWith("transfer.")) ?? false;
}

function Reviewed({ transfer, reason }: { readonly transfer: Transfer; readonly reason: string }) {
  const messages = useMessages(TRANSFERS_MESSAGES);
  const shared = useMessages(OPERATOR_MESSAGES);
  const facts = useMessages(TRANSFER_MESSAGES);
  const formats = useFormats();
  return (
    <Review>
      <Fact name={facts.received}>
        <strong className="text-lg font-semibold" data-testid="command-amount">
          {formats.coins(transfer.receivedAmount, transfer.currencyCode)}
        </strong>
      </Fact>
      <Fact name={messages.total}>{formats.coins(transfer.totalAmount, transfer.currencyCode)}</Fact>
      <Fact name={facts.network}>{networkName(transfer.network)}</Fact>
      <Fact name={messages.address}>
        <span className="break-all">
          <Mono>{transfer.address}</Mono>
        </span>
      </Fact>
      <Fact name={facts.externalId}>
        <span className="break-all">
          <Mono>{transfer.externalId}</Mono>
        </span>
      </Fact>
      <Fact name={shared.reason}>{reason}</Fact>
    </Review>
  );
}
