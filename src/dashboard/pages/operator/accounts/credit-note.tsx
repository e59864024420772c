// Giving back what a request was charged.

import { useState } from "react";
import { OperatorService } from "#gen/saldo/operator/v1/operator_service_pb.ts";
import { useFormats } from "../../../i18n/format.ts";
import { useWords } from "../../../i18n/language.tsx";
import { amountOf, RUPIAH } from "../../../i18n/read-amount.ts";
import { AmountField } from "../../../components/amount-field.tsx";
import { TextField } from "../../../components/field.tsx";
import { OPERATOR_WORDS } from "../operator-words.ts";
import { UUID_PATTERN } from "../components/amounts.ts";
import { Fact, Mono } from "../../../components/facts.tsx";
import { OrderDialog, orderTexts, ReasonField, useNotifyOutcome, useOrder } from "../components/order.tsx";
import { Review } from "../components/review.tsx";
import { ACCOUNTS_WORDS } from "./accounts-words.ts";

const LONGEST_NAME = 100;

type CreditNoteDialogProps = {
  readonly onClose: () => void;
  /** The request, where it is known already. */
  readonly of?: string;
};

/** Writes a credit note. Its request and name make it happen once, however often it is sent. */
export function CreditNoteDialog({ onClose, of }: CreditNoteDialogProps) {
  const words = useWords(ACCOUNTS_WORDS);
  const shared = useWords(OPERATOR_WORDS);
  const formats = useFormats();
  const notifyOutcome = useNotifyOutcome();
  const note = useOrder(OperatorService.method.creditUsage);
  const [requestId, setRequestId] = useState(of ?? "");
  const [typed, setTyped] = useState("");
  const amount = amountOf(typed, RUPIAH) ?? "";
  const [name, setName] = useState("");
  const [reason, setReason] = useState("");
  const send = async () => {
    const answer = await note.mutateAsync({ requestId, amount, name, reason });
    const result = `${words.noteResult}: ${formats.exactRupiah(answer.amount)}, ${formats.exactRupiah(answer.left)}`;
    notifyOutcome(answer, words.noteDone, result);
  };
  return (
    <OrderDialog
      {...orderTexts(words, "note")}
      onClose={onClose}
      onOrder={send}
      review={() => (
        <Review>
          <Fact name={words.requestId}>
            <Mono>{requestId}</Mono>
          </Fact>
          <Fact name={words.change}>
            <strong className="font-semibold">
              {amount === "" ? words.everythingLeft : `+${formats.exactRupiah(amount)}`}
            </strong>
          </Fact>
          {name === "" ? null : <Fact name={words.noteName}>{name}</Fact>}
          <Fact name={shared.reason}>{reason}</Fact>
        </Review>
      )}
    >
      <TextField
        label={words.requestId}
        required
        pattern={UUID_PATTERN}
        autoComplete="off"
        value={requestId}
        onChange={({ target }) => setRequestId(target.value.trim())}
      />
      <AmountField label={words.noteAmount} value={typed} onChange={setTyped} />
      <TextField
        label={words.noteName}
        hint={words.noteNameHint}
        maxLength={LONGEST_NAME}
        autoComplete="off"
        value={name}
        onChange={({ target }) => setName(target.value)}
      />
      <ReasonField required value={reason} onChange={setReason} />
    </OrderDialog>
  );
}
