// Giving back the charge of a request.

import { useState } from "react";
import { AccountService } from "#gen/saldo/operator/v1/account_service_pb.ts";
import { useFormats } from "../../../i18n/format.ts";
import { useMessages } from "../../../i18n/language.tsx";
import { amountOf, RUPIAH } from "../../../i18n/read-amount.ts";
import { AmountField } from "../../../components/amount-field.tsx";
import { TextField } from "../../../components/field.tsx";
import { OPERATOR_MESSAGES } from "../operator-messages.ts";
import { UUID_PATTERN } from "../components/amounts.ts";
import { Fact, Mono } from "../../../components/facts.tsx";
import { CommandDialog, commandTexts, ReasonField, useNotifyOutcome, useCommand } from "../components/command.tsx";
import { Review } from "../components/review.tsx";
import { ACCOUNTS_MESSAGES } from "./accounts-messages.ts";

const LONGEST_NAME = 100;

type CreditNoteDialogProps = {
  readonly onClose: () => void;
  /** The request, where it is already known. */
  readonly of?: string;
};

/** Writes a credit note. The request and the command's name make it take effect once, however often it is sent. */
export function CreditNoteDialog({ onClose, of }: CreditNoteDialogProps) {
  const messages = useMessages(ACCOUNTS_MESSAGES);
  const shared = useMessages(OPERATOR_MESSAGES);
  const formats = useFormats();
  const notifyOutcome = useNotifyOutcome();
  const note = useCommand(AccountService.method.creditUsage);
  const [requestId, setRequestId] = useState(of ?? "");
  const [typed, setTyped] = useState("");
  const amount = amountOf(typed, RUPIAH) ?? "";
  const [name, setName] = useState("");
  const [reason, setReason] = useState("");
  const send = async () => {
    const answer = await note.mutateAsync({ requestId, amount, name, reason });
    const result = `${messages.noteResult}: ${formats.exactRupiah(answer.amount)}, ${formats.exactRupiah(answer.left)}`;
    notifyOutcome(answer, messages.noteDone, result);
  };
  return (
    <CommandDialog
      {...commandTexts(messages, "note")}
      onClose={onClose}
      onCommand={send}
      review={() => (
        <Review>
          <Fact name={messages.requestId}>
            <Mono>{requestId}</Mono>
          </Fact>
          <Fact name={messages.change}>
            <strong className="font-semibold">
              {amount === "" ? messages.everythingLeft : `+${formats.exactRupiah(amount)}`}
            </strong>
          </Fact>
          {name === "" ? null : <Fact name={messages.noteName}>{name}</Fact>}
          <Fact name={shared.reason}>{reason}</Fact>
        </Review>
      )}
    >
      <TextField
        label={messages.requestId}
        required
        pattern={UUID_PATTERN}
        autoComplete="off"
        value={requestId}
        onChange={({ target }) => setRequestId(target.value.trim())}
      />
      <AmountField label={messages.noteAmount} value={typed} onChange={setTyped} />
      <TextField
        label={messages.noteName}
        hint={messages.noteNameHint}
        maxLength={LONGEST_NAME}
        autoComplete="off"
        value={name}
        onChange={({ target }) => setName(target.value)}
      />
      <ReasonField required value={reason} onChange={setReason} />
    </CommandDialog>
  );
}
