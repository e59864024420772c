// The question before another signing secret is made. What the former secret signs is refused from then on.

import type { ReactNode } from "react";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";

type RenewMessages = Readonly<Record<"renew" | "renewTitle" | "renewAbout" | "cancel", string>>;

type RenewSecretDialogProps = {
  /** The words of the page. */
  readonly messages: RenewMessages;
  readonly open: boolean;
  readonly onClose: () => void;
  readonly onRenew: () => void;
  readonly busy: boolean;
  /** Why it was refused. */
  readonly refusal: ReactNode;
};

export function RenewSecretDialog({ messages, open, onClose, onRenew, busy, refusal }: RenewSecretDialogProps) {
  return (
    <Dialog open={open} onClose={onClose} title={messages.renewTitle} about={messages.renewAbout}>
      {refusal}
      <div className="flex flex-wrap justify-end gap-2">
        <Button onClick={onClose}>{messages.cancel}</Button>
        <Button variant="danger" busy={busy} onClick={onRenew}>
          {messages.renew}
        </Button>
      </div>
    </Dialog>
  );
}
