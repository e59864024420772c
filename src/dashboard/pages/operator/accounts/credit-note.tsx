// Giving back what a request was charged.

import { useState } from "react";
import { OperatorService } from "#gen/saldo/operator/v1/operator_service_pb.ts";
import { useFormats } from "../../../language/format.ts";
import { useWords } from "../../../language/language.tsx";
import { amountOf, RUPIAH } from "../../../language/read-amount.ts";
import { AmountField } from "../../../parts/amount-field.tsx";
import { TextField } from "../../../parts/field.tsx";
import { useNotify } from "../../../parts/notices.tsx";
import { OPERATOR_WORDS } from "../operator-words.ts";
import { UUID_PATTERN } from "../parts/amounts.ts";
import { Fact, Mono } from "../../../parts/facts.tsx";
import { OrderDialog, ReasonField, useOrder } from "../parts/order.tsx";
import { Review } from "../parts/review.tsx";
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
  const notify = useNotify();
  const note = useOrder(OperatorService.method.creditUsage);
  const [requestId, setRequestId] = useState(of ?? "");
  const [typed, setTyped] = useState("");
  const amount = amountOf(typed, RUPIAH) ?? "";
  const [name, setName] = useState("");
  const [reason, setReason] = useState("");
  const send = async () => {
    const { isNew, amount: given, left } = await note.mutateAsync({ requestId, amount, name, reason });
    const result = `${words.noteResult}: ${formats.exactRupiah(given)}, ${formats.exactRupiah(left)}`;
    notify(isNew ? words.noteDone : shared.doneBefore, result);
  };
  return (
    <OrderDialog
      open
      onClose={onClose}
      title={words.noteTitle}
      about={words.noteAbout}
      confirm={words.confirmNote}
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
