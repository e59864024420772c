// Crediting an account and adjusting its balance.

import { useState } from "react";
import type { AccountSummary } from "#gen/saldo/operator/v1/account_pb.ts";
import { AccountService } from "#gen/saldo/operator/v1/account_service_pb.ts";
import { useFormats } from "../../../i18n/format.ts";
import { useMessages } from "../../../i18n/language.tsx";
import { amountOf, RUPIAH } from "../../../i18n/read-amount.ts";
import { AmountField } from "../../../components/amount-field.tsx";
import { Fact, Mono } from "../../../components/facts.tsx";
import { Segments } from "../../../components/segments.tsx";
import { OPERATOR_MESSAGES } from "../operator-messages.ts";
import { NewCommand, type CommandKey, renew } from "../components/command-key.tsx";
import { CommandDialog, commandTexts, ReasonField, useNotifyOutcome, useCommand } from "../components/command.tsx";
import { Review } from "../components/review.tsx";
import { ACCOUNTS_MESSAGES } from "./accounts-messages.ts";

/** The change of the balance. */
export type MoneyCommand = "credit" | "adjust";

type MoneyDialogProps = {
  readonly kind: MoneyCommand;
  readonly account: AccountSummary;
  readonly name: CommandKey;
  readonly onClose: () => void;
};

/** The command, shown for review before it is sent. */
export function MoneyDialog({ kind, account, name, onClose }: MoneyDialogProps) {
  const messages = useMessages(ACCOUNTS_MESSAGES);
  const notifyOutcome = useNotifyOutcome();
  const credit = useCommand(AccountService.method.creditAccount);
  const adjust = useCommand(AccountService.method.adjustAccount);
  const [direction, setDirection] = useState<"add" | "take">("add");
  const [typed, setTyped] = useState("");
  const amount = amountOf(typed, RUPIAH) ?? "";
  const [reason, setReason] = useState("");
  const signed = kind === "adjust" && direction === "take" ? `-${amount}` : amount;
  const send = async () => {
    const command = { accountId: account.id, amount: signed, reason, idempotencyKey: name.current };
    const answer = await (kind === "credit" ? credit : adjust).mutateAsync(command);
    renew(name);
    notifyOutcome({ isNew: answer.posting?.isNew, pendingApprovalId: answer.pendingApprovalId });
  };
  return (
    <CommandDialog
      {...commandTexts(messages, kind)}
      onClose={onClose}
      isDanger={signed.startsWith("-")}
      onCommand={send}
      review={() => <Reviewed account={account} amount={signed} reason={reason} />}
      onRefused={(error, clear) => <NewCommand error={error} name={name} onNew={clear} />}
    >
      {kind === "adjust" ? (
        <Segments
          label={messages.direction}
          value={direction}
          choices={[
            { value: "add", label: messages.add },
            { value: "take", label: messages.take },
          ]}
          onChange={setDirection}
        />
      ) : null}
      <AmountField label={messages.amount} value={typed} onChange={setTyped} required />
      <ReasonField required value={reason} onChange={setReason} />
    </CommandDialog>
  );
}

function Reviewed({
  account,
  amount,
  reason,
}: {
  readonly account: AccountSummary;
  readonly amount: string;
  readonly reason: string;
}) {
  const messages = useMessages(ACCOUNTS_MESSAGES);
  const shared = useMessages(OPERATOR_MESSAGES);
  const formats = useFormats();
  return (
    <Review>
      <Fact name={shared.account}>{account.email}</Fact>
      <Fact name={messages.accountId}>
        <Mono>{account.id}</Mono>
      </Fact>
      <Fact name={messages.available}>{formats.exactRupiah(account.balance?.available)}</Fact>
      <Fact name={messages.change}>
        <strong className="text-lg font-semibold" data-testid="command-amount">
          {amount.startsWith("-") ? "" : "+"}
          {formats.exactRupiah(amount)}
        </strong>
      </Fact>
      <Fact name={shared.reason}>{reason}</Fact>
    </Review>
  );
}
