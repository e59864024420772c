// Commands: the changes that an operator makes. A command is written, reviewed where it moves money, and then sent; a
// refusal keeps the input.

import type { DescMessage, DescMethodUnary } from "@bufbuild/protobuf";
import { useMutation } from "@connectrpc/connect-query";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useState } from "react";
import { useMessages } from "../../../i18n/language.tsx";
import { Button } from "../../../components/button.tsx";
import { Dialog } from "../../../components/dialog.tsx";
import { TextArea } from "../../../components/field.tsx";
import { useNotify } from "../../../components/notices.tsx";
import { OPERATOR_MESSAGES } from "../operator-messages.ts";
import { Refused } from "./refused.tsx";

/** The most characters of a reason. */
const LONGEST_REASON = 500;

/** Sends a command. Afterwards all displayed data is fetched again. An answer with a secret is not cached. */
export function useCommand<Input extends DescMessage, Output extends DescMessage>(
  method: DescMethodUnary<Input, Output>,
  { isSecret = false }: { readonly isSecret?: boolean } = {},
) {
  const queries = useQueryClient();
  return useMutation(method, {
    onSuccess: () => void queries.invalidateQueries(),
    ...(isSecret ? { gcTime: 0 } : {}),
  });
}

/**
 * The messages of a command, by the same names on every page of operators: `stopTitle`, `stopAbout` and `confirmStop` of
 * "stop".
 */
type CommandMessages<Name extends string> = Readonly<
  Record<`${Name}Title` | `${Name}About` | `confirm${Capitalize<Name>}`, string>
>;

/** The texts of a command's dialog, by the command's name. */
export function commandTexts<Name extends string>(messages: CommandMessages<Name>, name: Name) {
  const texts: Readonly<Record<string, string>> = messages;
  const confirm = `confirm${name.charAt(0).toUpperCase()}${name.slice(1)}`;
  return { title: texts[`${name}Title`] ?? "", about: texts[`${name}About`] ?? "", confirm: texts[confirm] ?? "" };
}

/** The answer to a command that can arrive twice, or that a second operator has to approve. */
type Outcome = { readonly isNew?: boolean | undefined; readonly pendingApprovalId?: string };

/**
 * Shows how a command ended: it waits for approval, was carried out before, or is done (in the given words, or as such).
 */
export function useNotifyOutcome(): (outcome: Outcome, done?: string, about?: string) => void {
  const messages = useMessages(OPERATOR_MESSAGES);
  const notify = useNotify();
  return ({ isNew = true, pendingApprovalId = "" }, done = messages.done, about?: string) => {
    if (pendingApprovalId !== "") notify(messages.waits, messages.waitsAbout);
    else notify(isNew ? done : messages.doneBefore, about);
  };
}

type CommandDialogProps = {
  /** Left out: it is open as long as it is rendered. */
  readonly open?: boolean;
  readonly onClose: () => void;
  readonly title: ReactNode;
  readonly about?: ReactNode;
  /** The form. */
  readonly children?: ReactNode;
  /** The review before it is sent. Left out: the form itself sends it. */
  readonly review?: () => ReactNode;
  /** The label of the button that sends it. */
  readonly confirm: string;
  readonly isDanger?: boolean;
  /** Sends it; when it throws, the dialog stays and shows why. */
  readonly onCommand: () => Promise<unknown>;
  /** A remedy for a refusal besides trying again. `clear` removes the refusal. */
  readonly onRefused?: (error: unknown, clear: () => void) => ReactNode;
};

/** The dialog of a command. It cannot be closed while the command is being sent, so that its answer is not lost. */
export function CommandDialog({ open = true, onClose, title, about, ...command }: CommandDialogProps) {
  const [isBusy, setBusy] = useState(false);
  return (
    <Dialog open={open} onClose={onClose} title={title} about={about} kept={isBusy}>
      <CommandForm {...command} isBusy={isBusy} setBusy={setBusy} onClose={onClose} />
    </Dialog>
  );
}

type CommandFormProps = Omit<CommandDialogProps, "open" | "title" | "about"> & {
  readonly isBusy: boolean;
  readonly setBusy: (isBusy: boolean) => void;
};

function CommandForm({
  children,
  review,
  confirm,
  isDanger,
  onCommand,
  onRefused,
  onClose,
  isBusy,
  setBusy,
}: CommandFormProps) {
  const messages = useMessages(OPERATOR_MESSAGES);
  const [isReviewed, setReviewed] = useState(false);
  const [refusal, setRefusal] = useState<unknown>(null);
  const isLast = review === undefined || isReviewed;
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (!isLast) {
      setReviewed(true);
      return;
    }
    setBusy(true);
    setRefusal(null);
    try {
      await onCommand();
      onClose();
    } catch (error) {
      setRefusal(error);
    } finally {
      setBusy(false);
    }
  };
  const leave = () => {
    if (!isReviewed) return onClose();
    setReviewed(false);
    setRefusal(null);
  };
  return (
    <form onSubmit={(event) => void submit(event)} className="flex flex-col gap-4">
      {isReviewed ? (
        <>
          <p className="text-muted">{messages.reviewAbout}</p>
          {review?.()}
        </>
      ) : (
        children
      )}
      {refusal === null ? null : (
        <>
          <Refused error={refusal} />
          {onRefused?.(refusal, () => setRefusal(null))}
        </>
      )}
      <div className="flex flex-wrap justify-end gap-2">
        <Button onClick={leave} disabled={isBusy}>
          {isReviewed ? messages.back : messages.cancel}
        </Button>
        <Button
          key={String(isLast)}
          type="submit"
          variant={isLast && isDanger === true ? "danger" : "action"}
          busy={isBusy}
        >
          {isLast ? confirm : messages.review}
        </Button>
      </div>
    </form>
  );
}

type ReasonDialogProps = Omit<CommandDialogProps, "open" | "review" | "onCommand"> & {
  readonly isReasonRequired?: boolean;
  /** The readers of the reason, where they are not only those of the log. */
  readonly hint?: string | undefined;
  readonly review?: (reason: string) => ReactNode;
  readonly onCommand: (reason: string) => Promise<unknown>;
};

/** The dialog of a command that needs only a reason. */
export function ReasonDialog({
  children,
  isReasonRequired = false,
  hint,
  review,
  onCommand,
  ...dialog
}: ReasonDialogProps) {
  const [reason, setReason] = useState("");
  return (
    <CommandDialog
      {...dialog}
      onCommand={() => onCommand(reason)}
      {...(review === undefined ? {} : { review: () => review(reason) })}
    >
      {children}
      <ReasonField
        required={isReasonRequired}
        value={reason}
        onChange={setReason}
        {...(hint === undefined ? {} : { hint })}
      />
    </CommandDialog>
  );
}

/** The reason of the command. */
export function ReasonField({
  value,
  onChange,
  required = false,
  hint,
}: {
  readonly value: string;
  readonly onChange: (reason: string) => void;
  readonly required?: boolean;
  /** The readers of the reason, where they are not only those of the log. */
  readonly hint?: string;
}) {
  const messages = useMessages(OPERATOR_MESSAGES);
  return (
    <TextArea
      label={required ? messages.reason : messages.optionalReason}
      hint={hint ?? messages.reasonHint}
      required={required}
      rows={2}
      maxLength={LONGEST_REASON}
      value={value}
      onChange={({ target }) => onChange(target.value)}
    />
  );
}
