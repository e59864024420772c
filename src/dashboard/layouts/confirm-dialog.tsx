// The dialog in which a person confirms who they are.

import { useEffect, useState } from "react";
import { type FactorState, readFactors } from "../api/second-factor.ts";
import { isSessionOver } from "../api/sign-in.ts";
import { tellSignedOut } from "../api/transport.ts";
import { useMessages } from "../i18n/language.tsx";
import { ProofForms } from "../pages/second-factor/proof-forms.tsx";
import { FACTOR_MESSAGES } from "../pages/second-factor/second-factor-messages.ts";
import { Button } from "../components/button.tsx";
import { Dialog } from "../components/dialog.tsx";
import { SkeletonLines } from "../components/states.tsx";

export type ConfirmDialogProps = {
  readonly isOpen: boolean;
  /** Called once: whether the person has confirmed. */
  readonly onAnswer: (isConfirmed: boolean) => void;
};

/** One question; the next one is a new dialog. */
export function ConfirmDialog({ isOpen, onAnswer }: ConfirmDialogProps) {
  const messages = useMessages(FACTOR_MESSAGES);
  const [state, setState] = useState<FactorState | null>(null);
  useEffect(() => {
    readFactors().then(setState, (error: unknown) => {
      onAnswer(false);
      if (isSessionOver(error)) tellSignedOut();
    });
  }, [onAnswer]);
  const cancel = <Button onClick={() => onAnswer(false)}>{messages.cancel}</Button>;
  return (
    <Dialog open={isOpen} onClose={() => onAnswer(false)} title={messages.confirmTitle} about={messages.confirmAbout}>
      {state === null ? (
        <SkeletonLines />
      ) : (
        <ProofForms
          ways={{ app: state.hasApp, passkey: state.passkeys.length > 0, password: state.hasPassword }}
          onProved={() => onAnswer(true)}
          aside={cancel}
        />
      )}
    </Dialog>
  );
}
