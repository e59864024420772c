// Asks the person to confirm their identity when a call needs that, and sends a person without a required second factor
// to the page for setting it up.

import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { onLack } from "../api/confirm.ts";
import { type FactorState, readFactors } from "../api/second-factor.ts";
import { isSessionOver } from "../api/sign-in.ts";
import { tellSignedOut } from "../api/transport.ts";
import { useMessages } from "../i18n/language.tsx";
import { ProofForms } from "../pages/second-factor/proof-forms.tsx";
import { FACTOR_MESSAGES } from "../pages/second-factor/second-factor-messages.ts";
import { Button } from "../components/button.tsx";
import { Dialog } from "../components/dialog.tsx";
import { SkeletonLines } from "../components/states.tsx";

/** Rendered once, in the frame. */
export function ConfirmDialog() {
  const messages = useMessages(FACTOR_MESSAGES);
  const navigate = useNavigate();
  const [isOpen, setOpen] = useState(false);
  const [state, setState] = useState<FactorState | null>(null);
  const answer = useRef<(isConfirmed: boolean) => void>(() => {});
  const close = (isConfirmed: boolean) => {
    setOpen(false);
    answer.current(isConfirmed);
  };
  useEffect(
    () =>
      onLack({
        setUp: () => void navigate({ to: "/second-factor" }),
        confirm: async () => {
          const answered = Promise.withResolvers<boolean>();
          answer.current = answered.resolve;
          setState(null);
          setOpen(true);
          readFactors().then(setState, (error: unknown) => {
            setOpen(false);
            answered.resolve(false);
            if (isSessionOver(error)) tellSignedOut();
          });
          return answered.promise;
        },
      }),
    [navigate],
  );
  const cancel = <Button onClick={() => close(false)}>{messages.cancel}</Button>;
  return (
    <Dialog open={isOpen} onClose={() => close(false)} title={messages.confirmTitle} about={messages.confirmAbout}>
      {state === null ? (
        <SkeletonLines />
      ) : (
        <ProofForms
          ways={{ app: state.hasApp, passkey: state.passkeys.length > 0, password: state.hasPassword }}
          onProved={() => close(true)}
          aside={cancel}
        />
      )}
    </Dialog>
  );
}
