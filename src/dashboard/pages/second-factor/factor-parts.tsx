// The rows of the app, the codes and the passkeys in the card, and the dialog that removes one.

import type { ReactNode } from "react";
import { useMessages } from "../../i18n/language.tsx";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { useNotify } from "../../components/notices.tsx";
import { ProofProblem, useProof } from "./proof-forms.tsx";
import { FACTOR_MESSAGES } from "./second-factor-messages.ts";

/** One kind of factor: its name, its state and its actions. */
export function Factor({
  name,
  about,
  children,
}: {
  readonly name: ReactNode;
  readonly about?: ReactNode;
  readonly children?: ReactNode;
}) {
  return (
    <section className="flex flex-wrap items-start justify-between gap-3">
      <div className="min-w-0 flex-1 basis-52">
        <h3 className="flex flex-wrap items-center gap-2 font-medium">{name}</h3>
        {about === undefined ? null : <p className="mt-1 text-muted">{about}</p>}
      </div>
      {children}
    </section>
  );
}

type RemoveProps = {
  readonly open: boolean;
  readonly title: string;
  readonly onClose: () => void;
  readonly onRemove: () => Promise<unknown>;
  readonly onRemoved: () => Promise<void>;
};

/** Asks before removing. */
export function RemoveDialog({ open, title, onClose, onRemove, onRemoved }: RemoveProps) {
  const messages = useMessages(FACTOR_MESSAGES);
  const notify = useNotify();
  const { isBusy, error, run } = useProof(() => {
    notify(messages.removed);
    onClose();
    void onRemoved();
  });
  return (
    <Dialog open={open} onClose={onClose} title={title} about={messages.removeAbout}>
      <div aria-live="polite">{error === null ? null : <ProofProblem error={error} />}</div>
      <div className="flex flex-wrap justify-end gap-2">
        <Button onClick={onClose}>{messages.cancel}</Button>
        <Button variant="danger" busy={isBusy} onClick={() => void run(onRemove)}>
          {messages.remove}
        </Button>
      </div>
    </Dialog>
  );
}
