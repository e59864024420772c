// Money on an account and off it, by hand.

import { type RefObject, useRef, useState } from "react";
import type { AccountSummary } from "#gen/saldo/operator/v1/account_pb.ts";
import { OperatorService } from "#gen/saldo/operator/v1/operator_service_pb.ts";
import { useFormats } from "../../../language/format.ts";
import { useWords } from "../../../language/language.tsx";
import { amountOf, RUPIAH } from "../../../language/read-amount.ts";
import { AmountField } from "../../../parts/amount-field.tsx";
import { Button } from "../../../parts/button.tsx";
import { Card } from "../../../parts/card.tsx";
import { useNotify } from "../../../parts/notices.tsx";
import { Segments } from "../../../parts/segments.tsx";
import { OPERATOR_WORDS } from "../operator-words.ts";
import { Fact, Facts, Mono } from "../../../parts/facts.tsx";
import { OrderDialog, ReasonField, useOrder } from "../parts/order.tsx";
import { isReusedName } from "../parts/refused.tsx";
import { ACCOUNTS_WORDS } from "./accounts-words.ts";
import { CreditNoteDialog } from "./credit-note.tsx";

type Kind = "credit" | "adjust";

/** The orders that move money. */
export function AccountMoney({ account }: { readonly account: AccountSummary }) {
  const words = useWords(ACCOUNTS_WORDS);
  const [kind, setKind] = useState<Kind | "note" | null>(null);
  // The name of the next order. It outlives the dialog: an order whose answer was lost is sent again under the same name, and the
  // server carries it out once. Only an answer makes room for a new one.
  const name = useRef(crypto.randomUUID());
  const close = () => setKind(null);
  return (
    <Card title={words.money}>
      <div className="flex flex-wrap gap-2">
        <Button look="action" onClick={() => setKind("credit")}>
          {words.credit}
        </Button>
        <Button onClick={() => setKind("adjust")}>{words.adjust}</Button>
        <Button onClick={() => setKind("note")}>{words.note}</Button>
      </div>
      {kind === null || kind === "note" ? null : (
        <MoneyDialog kind={kind} account={account} name={name} onClose={close} />
      )}
      {kind === "note" ? <CreditNoteDialog onClose={close} /> : null}
    </Card>
  );
}

type MoneyDialogProps = {
  readonly kind: Kind;
  readonly account: AccountSummary;
  readonly name: RefObject<string>;
  readonly onClose: () => void;
};

function MoneyDialog({ kind, account, name, onClose }: MoneyDialogProps) {
  const words = useWords(ACCOUNTS_WORDS);
  const shared = useWords(OPERATOR_WORDS);
  const notify = useNotify();
  const credit = useOrder(OperatorService.method.creditAccount);
  const adjust = useOrder(OperatorService.method.adjustAccount);
  const [direction, setDirection] = useState<"add" | "take">("add");
  const [typed, setTyped] = useState("");
  const amount = amountOf(typed, RUPIAH) ?? "";
  const [reason, setReason] = useState("");
  const signed = kind === "adjust" && direction === "take" ? `-${amount}` : amount;
  const send = async () => {
    const order = { accountId: account.id, amount: signed, reason, idempotencyKey: name.current };
    const answer = await (kind === "credit" ? credit : adjust).mutateAsync(order);
    name.current = crypto.randomUUID();
    notify(answer.order?.isNew === false ? shared.doneBefore : shared.done);
  };
  const isCredit = kind === "credit";
  return (
    <OrderDialog
      open
      onClose={onClose}
      title={isCredit ? words.creditTitle : words.adjustTitle}
      about={isCredit ? words.creditAbout : words.adjustAbout}
      confirm={isCredit ? words.confirmCredit : words.confirmAdjust}
      isDanger={signed.startsWith("-")}
      onOrder={send}
      review={() => <Review account={account} amount={signed} reason={reason} />}
      onRefused={(error) =>
        isReusedName(error) ? (
          <Button onClick={() => void (name.current = crypto.randomUUID())}>{shared.newOrder}</Button>
        ) : null
      }
    >
      {kind === "adjust" ? (
        <Segments
          label={words.direction}
          value={direction}
          choices={[
            { value: "add", label: words.add },
            { value: "take", label: words.take },
          ]}
          onChange={setDirection}
        />
      ) : null}
      <AmountField label={words.amount} value={typed} onChange={setTyped} required />
      <ReasonField required value={reason} onChange={setReason} />
    </OrderDialog>
  );
}

function Review({
  account,
  amount,
  reason,
}: {
  readonly account: AccountSummary;
  readonly amount: string;
  readonly reason: string;
}) {
  const words = useWords(ACCOUNTS_WORDS);
  const shared = useWords(OPERATOR_WORDS);
  const formats = useFormats();
  return (
    <div className="rounded-lg border border-line bg-sunken p-4">
      <Facts>
        <Fact name={shared.account}>{account.email}</Fact>
        <Fact name={words.accountId}>
          <Mono>{account.id}</Mono>
        </Fact>
        <Fact name={words.available}>{formats.exactRupiah(account.balance?.available)}</Fact>
        <Fact name={words.change}>
          <strong className="text-lg font-semibold" data-testid="order-amount">
            {amount.startsWith("-") ? "" : "+"}
            {formats.exactRupiah(amount)}
          </strong>
        </Fact>
        <Fact name={shared.reason}>{reason}</Fact>
      </Facts>
    </div>
  );
}
