// Opens the dialog in which a person confirms who they are, when a call needs that, and sends a person without a required
// second factor to the page for setting it up. The dialog's code is fetched when it is first needed.

import { useNavigate } from "@tanstack/react-router";
import { type ComponentType, useEffect, useState } from "react";
import { onLack } from "../api/confirm.ts";
import type { ConfirmDialogProps } from "./confirm-dialog.tsx";

type Asked = ConfirmDialogProps & { readonly Dialog: ComponentType<ConfirmDialogProps>; readonly times: number };

/** Rendered once, in the frame. */
export function ConfirmHost() {
  const navigate = useNavigate();
  const [asked, setAsked] = useState<Asked | null>(null);
  useEffect(
    () =>
      onLack({
        setUp: () => void navigate({ to: "/second-factor" }),
        confirm: async () => {
          const loaded = await import("./confirm-dialog.tsx").catch(() => null);
          if (loaded === null) return false;
          const answered = Promise.withResolvers<boolean>();
          const onAnswer = (isConfirmed: boolean): void => {
            setAsked((before) => (before === null ? null : { ...before, isOpen: false }));
            answered.resolve(isConfirmed);
          };
          setAsked((before) => ({
            Dialog: loaded.ConfirmDialog,
            times: (before?.times ?? 0) + 1,
            isOpen: true,
            onAnswer,
          }));
          return answered.promise;
        },
      }),
    [navigate],
  );
  if (asked === null) return null;
  const { Dialog, times, isOpen, onAnswer } = asked;
  return <Dialog key={times} isOpen={isOpen} onAnswer={onAnswer} />;
}
