// Letting a wallet that has stopped sign again.

import { useState } from "react";
import { OperatorService } from "#gen/saldo/operator/v1/operator_service_pb.ts";
import type { PayoutWallet } from "#gen/saldo/operator/v1/transfer_pb.ts";
import { useFormats } from "../../../language/format.ts";
import { useWords } from "../../../language/language.tsx";
import { Fact, Mono } from "../../../parts/facts.tsx";
import { useNotify } from "../../../parts/notices.tsx";
import { OPERATOR_WORDS } from "../operator-words.ts";
import { useWhen } from "../parts/amounts.ts";
import { OrderDialog, ReasonField, useOrder } from "../parts/order.tsx";
import { Review } from "../parts/review.tsx";
import { useChainName } from "./chain-name.ts";
import { TRANSFERS_WORDS } from "./transfers-words.ts";

/** The order, looked at once more before it is sent. */
export function ResumeDialog({ wallet, onClose }: { readonly wallet: PayoutWallet; readonly onClose: () => void }) {
  const words = useWords(TRANSFERS_WORDS);
  const shared = useWords(OPERATOR_WORDS);
  const formats = useFormats();
  const when = useWhen();
  const notify = useNotify();
  const chainName = useChainName();
  const resume = useOrder(OperatorService.method.resumePayoutWallet);
  const [reason, setReason] = useState("");
  const send = async () => {
    // The stop that is shown here: the wallet may have gone on meanwhile and stopped again for something else.
    const { isNew, foreignNonces } = await resume.mutateAsync({
      chain: wallet.chain,
      reason,
      ...(wallet.stoppedAt && { stoppedAt: wallet.stoppedAt }),
    });
    if (isNew) notify(words.resumed, `${formats.count(foreignNonces)} ${words.foreignNonces}`);
    else notify(shared.doneBefore);
  };
  return (
    <OrderDialog
      open
      onClose={onClose}
      title={words.resumeTitle}
      about={words.resumeAbout}
      confirm={words.confirmResume}
      isDanger
      onOrder={send}
      review={() => (
        <Review>
          <Fact name={words.chain}>{chainName(wallet.chain)}</Fact>
          <Fact name={words.wallet}>
            <span className="break-all">
              <Mono>{wallet.address}</Mono>
            </span>
          </Fact>
          <Fact name={words.stopReason}>{wallet.stopReason}</Fact>
          <Fact name={words.stoppedSince}>{when(wallet.stoppedAt)}</Fact>
          <Fact name={shared.reason}>{reason}</Fact>
        </Review>
      )}
    >
      <ReasonField required value={reason} onChange={setReason} hint={words.resumeReason} />
    </OrderDialog>
  );
}
