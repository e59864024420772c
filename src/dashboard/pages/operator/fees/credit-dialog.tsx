// Manual credits of coins to a merchant's balance.

import { useState } from "react";
import { MerchantAdminService } from "#gen/saldo/operator/v1/merchant_admin_service_pb.ts";
import { useFormats } from "../../../i18n/format.ts";
import { useMessages } from "../../../i18n/language.tsx";
import { amountOf, COINS } from "../../../i18n/read-amount.ts";
import { AmountField } from "../../../components/amount-field.tsx";
import { Fact, Mono } from "../../../components/facts.tsx";
import { TextField } from "../../../components/field.tsx";
import { OPERATOR_MESSAGES } from "../operator-messages.ts";
import { NewCommand, type CommandKey, renew } from "../components/command-key.tsx";
import { CommandDialog, commandTexts, ReasonField, useNotifyOutcome, useCommand } from "../components/command.tsx";
import { Review } from "../components/review.tsx";
import { FEES_MESSAGES } from "./fees-messages.ts";

const LONGEST_CURRENCY = 16;
const LONGEST_NETWORK = 32;

/** The form's values; the amount as typed. */
type Written = {
  readonly currencyCode: string;
  readonly network: string;
  readonly typed: string;
  readonly reason: string;
};

type CreditDialogProps = {
  readonly merchantId: string;
  readonly name: CommandKey;
  readonly onClose: () => void;
};

/** The command, shown for review before it is sent. */
export function CreditDialog({ merchantId, name, onClose }: CreditDialogProps) {
  const messages = useMessages(FEES_MESSAGES);
  const formats = useFormats();
  const notifyOutcome = useNotifyOutcome();
  const credit = useCommand(MerchantAdminService.method.creditMerchant);
  const [written, setWritten] = useState<Written>({ currencyCode: "", network: "", typed: "", reason: "" });
  const { currencyCode, network, typed, reason } = written;
  const send = async () => {
    const command = { merchantId, currencyCode, network, amount: amountOf(typed, COINS) ?? "", reason };
    const answer = await credit.mutateAsync({ ...command, idempotencyKey: name.current });
    renew(name);
    notifyOutcome(answer, messages.credited, formats.coins(answer.available, currencyCode));
  };
  return (
    <CommandDialog
      {...commandTexts(messages, "credit")}
      onClose={onClose}
      onCommand={send}
      onRefused={(error, clear) => <NewCommand error={error} name={name} onNew={clear} />}
      review={() => <Reviewed merchantId={merchantId} written={written} />}
    >
      <CreditFields written={written} onChange={(change) => setWritten({ ...written, ...change })} />
    </CommandDialog>
  );
}

function CreditFields({
  written: { currencyCode, network, typed, reason },
  onChange,
}: {
  readonly written: Written;
  readonly onChange: (change: Partial<Written>) => void;
}) {
  const messages = useMessages(FEES_MESSAGES);
  const formats = useFormats();
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label={messages.currency}
          required
          maxLength={LONGEST_CURRENCY}
          autoComplete="off"
          value={currencyCode}
          onChange={({ target }) => onChange({ currencyCode: target.value.trim().toUpperCase() })}
        />
        <TextField
          label={messages.network}
          hint={messages.networkHint}
          maxLength={LONGEST_NETWORK}
          autoComplete="off"
          value={network}
          onChange={({ target }) => onChange({ network: target.value.trim() })}
        />
      </div>
      <AmountField
        label={messages.amount}
        required
        rules={COINS}
        written={(understood) => formats.coins(understood, currencyCode)}
        value={typed}
        onChange={(text) => onChange({ typed: text })}
      />
      <ReasonField required value={reason} onChange={(text) => onChange({ reason: text })} />
    </>
  );
}

function Reviewed({ merchantId, written }: { readonly merchantId: string; readonly written: Written }) {
  const messages = useMessages(FEES_MESSAGES);
  const shared = useMessages(OPERATOR_MESSAGES);
  const formats = useFormats();
  const { currencyCode, network, typed, reason } = written;
  return (
    <Review>
      <Fact name={messages.merchant}>
        <Mono>{merchantId}</Mono>
      </Fact>
      <Fact name={messages.amount}>
        <strong className="text-lg font-semibold">+{formats.coins(amountOf(typed, COINS) ?? "", currencyCode)}</strong>
      </Fact>
      {network === "" ? null : <Fact name={messages.network}>{network}</Fact>}
      <Fact name={shared.reason}>{reason}</Fact>
    </Review>
  );
}
