// Lets a stopped wallet sign again.

import { PayoutService } from "#gen/saldo/operator/v1/payout_service_pb.ts";
import type { PayoutWallet } from "#gen/saldo/operator/v1/payout_pb.ts";
import { useFormats } from "../../../i18n/format.ts";
import { useMessages } from "../../../i18n/language.tsx";
import { Fact, Mono } from "../../../components/facts.tsx";
import { OPERATOR_MESSAGES } from "../operator-messages.ts";
import { useWhen } from "../components/amounts.ts";
import { commandTexts, ReasonDialog, useNotifyOutcome, useCommand } from "../components/command.tsx";
import { Review } from "../components/review.tsx";
import { useChainName } from "./chain-name.ts";
import { TRANSFERS_MESSAGES } from "./transfers-messages.ts";

/** The command, shown for review before it is sent. */
export function ResumeDialog({ wallet, onClose }: { readonly wallet: PayoutWallet; readonly onClose: () => void }) {
  const messages = useMessages(TRANSFERS_MESSAGES);
  const shared = useMessages(OPERATOR_MESSAGES);
  const formats = useFormats();
  const when = useWhen();
  const notifyOutcome = useNotifyOutcome();
  const chainName = useChainName();
  const resume = useCommand(PayoutService.method.resumePayoutWallet);
  const send = async (reason: string) => {
    // The stop that is shown here: the wallet may have resumed meanwhile and stopped again for another reason.
    const { isNew, foreignNonces } = await resume.mutateAsync({
      chain: wallet.chain,
      reason,
      ...(wallet.stoppedAt && { stoppedAt: wallet.stoppedAt }),
    });
    const found = isNew ? `${formats.count(foreignNonces)} ${messages.foreignNonces}` : undefined;
    notifyOutcome({ isNew }, messages.resumed, found);
  };
  return (
    <ReasonDialog
      {...commandTexts(messages, "resume")}
      onClose={onClose}
      isDanger
      isReasonRequired
      hint={messages.resumeReason}
      onCommand={send}
      review={(reason) => (
        <Review>
          <Fact name={messages.chain}>{chainName(wallet.chain)}</Fact>
          <Fact name={messages.wallet}>
            <span className="break-all">
              <Mono>{wallet.address}</Mono>
            </span>
          </Fact>
          <Fact name={messages.stopReason}>{wallet.stopReason}</Fact>
          <Fact name={messages.stoppedSince}>{when(wallet.stoppedAt)}</Fact>
          <Fact name={shared.reason}>{reason}</Fact>
        </Review>
      )}
    />
  );
}
