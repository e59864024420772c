// New terms of a fee: entered, tried on an example by the server, and set.

import { useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import type { FeePreview } from "#gen/saldo/operator/v1/fee_pb.ts";
import { MerchantAdminService } from "#gen/saldo/operator/v1/merchant_admin_service_pb.ts";
import { useFormats } from "../../../i18n/format.ts";
import { useMessages } from "../../../i18n/language.tsx";
import { amountOf, COINS } from "../../../i18n/read-amount.ts";
import { AmountField } from "../../../components/amount-field.tsx";
import { TextField } from "../../../components/field.tsx";
import { Skeleton } from "../../../components/states.tsx";
import { type Column, Table } from "../../../components/table.tsx";
import { UUID_PATTERN } from "../components/amounts.ts";
import { Fact, Mono } from "../../../components/facts.tsx";
import { CommandDialog, commandTexts, ReasonField, useNotifyOutcome, useCommand } from "../components/command.tsx";
import { Refused } from "../components/refused.tsx";
import { Review } from "../components/review.tsx";
import { FEES_MESSAGES } from "./fees-messages.ts";

const LONGEST_CURRENCY = 16;
/** A fee may be zero. */
const FEE = { ...COINS, zero: true };
const FIRST_SAMPLE = { amount: "100", currency: "TRX" } as const;

/** The form's values, as typed. Empty: not given. */
type Written = {
  readonly merchantId: string;
  readonly currencyCode: string;
  readonly flat: string;
  readonly rate: string;
  readonly min: string;
  readonly max: string;
  readonly sampleAmount: string;
  readonly sampleCurrency: string;
};

/** The dialog. `merchantId` is filled in where the page looks at one. */
export function SetFeeDialog({ merchantId, onClose }: { readonly merchantId: string; readonly onClose: () => void }) {
  const messages = useMessages(FEES_MESSAGES);
  const notifyOutcome = useNotifyOutcome();
  const set = useCommand(MerchantAdminService.method.setFee);
  const [reason, setReason] = useState("");
  const [written, setWritten] = useState<Written>({
    merchantId,
    currencyCode: "",
    flat: "0",
    rate: "0",
    min: "",
    max: "",
    sampleAmount: FIRST_SAMPLE.amount,
    sampleCurrency: FIRST_SAMPLE.currency,
  });
  const send = async () => {
    const { currencyCode } = written;
    await set.mutateAsync({ merchantId: written.merchantId, currencyCode, terms: termsOf(written), reason });
    notifyOutcome({});
  };
  return (
    <CommandDialog
      {...commandTexts(messages, "set")}
      onClose={onClose}
      onCommand={send}
      review={() => <Reviewed written={written} />}
    >
      <FeeFields written={written} onChange={(change) => setWritten({ ...written, ...change })} />
      <ReasonField value={reason} onChange={setReason} />
    </CommandDialog>
  );
}

function FeeFields({
  written,
  onChange,
}: {
  readonly written: Written;
  readonly onChange: (change: Partial<Written>) => void;
}) {
  const messages = useMessages(FEES_MESSAGES);
  const formats = useFormats();
  const coins = (amount: string) => formats.coins(amount, currencyOf(written));
  const amount = (name: "flat" | "rate" | "min" | "max" | "sampleAmount") => ({
    rules: name === "sampleAmount" ? COINS : FEE,
    written: name === "rate" ? formats.rate : coins,
    value: written[name],
    onChange: (text: string) => onChange({ [name]: text }),
  });
  return (
    <>
      <TextField
        label={messages.merchant}
        hint={messages.merchantHint}
        pattern={UUID_PATTERN}
        autoComplete="off"
        value={written.merchantId}
        onChange={({ target }) => onChange({ merchantId: target.value.trim() })}
      />
      <TextField
        label={messages.currency}
        hint={messages.currencyHint}
        maxLength={LONGEST_CURRENCY}
        autoComplete="off"
        value={written.currencyCode}
        onChange={({ target }) => onChange({ currencyCode: target.value.trim().toUpperCase() })}
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <AmountField label={messages.flat} hint={messages.flatHint} required {...amount("flat")} />
        <AmountField label={messages.rate} hint={messages.rateHint} required {...amount("rate")} />
        <AmountField label={messages.min} hint={messages.optional} {...amount("min")} />
        <AmountField label={messages.max} hint={messages.optional} {...amount("max")} />
        <AmountField label={messages.sample} required {...amount("sampleAmount")} />
        {written.currencyCode === "" ? (
          <TextField
            label={messages.sampleCurrency}
            required
            maxLength={LONGEST_CURRENCY}
            value={written.sampleCurrency}
            onChange={({ target }) => onChange({ sampleCurrency: target.value.trim().toUpperCase() })}
          />
        ) : null}
      </div>
    </>
  );
}

function Reviewed({ written }: { readonly written: Written }) {
  const messages = useMessages(FEES_MESSAGES);
  const formats = useFormats();
  const currencyCode = currencyOf(written);
  const terms = termsOf(written);
  const { data, error } = useQuery(MerchantAdminService.method.previewFee, {
    merchantId: written.merchantId,
    currencyCode,
    amount: amountOf(written.sampleAmount, COINS) ?? "",
    terms,
  });
  return (
    <>
      <Review>
        <Fact name={messages.merchant}>
          {written.merchantId === "" ? messages.everyMerchant : <Mono>{written.merchantId}</Mono>}
        </Fact>
        <Fact name={messages.currency}>
          {written.currencyCode === "" ? messages.everyCurrency : <Mono>{written.currencyCode}</Mono>}
        </Fact>
        <Fact name={messages.flat}>{formats.coins(terms.flat, currencyCode)}</Fact>
        <Fact name={messages.rate}>{formats.rate(terms.rate)}</Fact>
        {terms.min === undefined ? null : <Fact name={messages.min}>{formats.coins(terms.min, currencyCode)}</Fact>}
        {terms.max === undefined ? null : <Fact name={messages.max}>{formats.coins(terms.max, currencyCode)}</Fact>}
      </Review>
      {error === null ? null : <Refused error={error} />}
      {data === undefined && error === null ? <Skeleton className="h-32 w-full" /> : null}
      {data?.row === undefined || specialty(data.row) <= specialty(written) ? null : (
        <p role="status" className="rounded-lg bg-warn-soft p-3 text-warn">
          {messages.outranked}
        </p>
      )}
      {data === undefined ? null : (
        <Previewed current={data.current} proposed={data.proposed} currencyCode={currencyCode} />
      )}
    </>
  );
}

/** A merchant's row takes precedence over a currency's, which takes precedence over the general one. */
function specialty({ merchantId, currencyCode }: Pick<Written, "merchantId" | "currencyCode">): number {
  return (merchantId === "" ? 0 : 2) + (currencyCode === "" ? 0 : 1);
}

type PreviewedProps = {
  readonly current: FeePreview | undefined;
  readonly proposed: FeePreview | undefined;
  readonly currencyCode: string;
};

function Previewed({ current, proposed, currencyCode }: PreviewedProps) {
  const messages = useMessages(FEES_MESSAGES);
  const formats = useFormats();
  const coins = (amount: string | undefined) => (amount === undefined ? "—" : formats.coins(amount, currencyCode));
  const columns: readonly Column<"received" | "fee" | "total">[] = [
    { key: "name", head: <span className="sr-only">{messages.amount}</span>, cell: (name) => messages[name] },
    { key: "now", head: messages.now, right: true, cell: (name) => coins(current?.[name]) },
    {
      key: "afterwards",
      head: messages.afterwards,
      right: true,
      cell: (name) => <strong>{coins(proposed?.[name])}</strong>,
    },
  ];
  return (
    <div className="rounded-lg border border-line pt-3">
      <h3 className="px-4 font-medium max-sm:px-3">{messages.preview}</h3>
      <Table label={messages.preview} columns={columns} rows={["received", "fee", "total"]} keyOf={(name) => name} />
    </div>
  );
}

/** The terms to send. A field that cannot be read keeps the form from the review. */
function termsOf({ flat, rate, min, max }: Written): FeeTermsSent {
  const [least, most] = [amountOf(min, FEE), amountOf(max, FEE)];
  return {
    flat: amountOf(flat, FEE) ?? "",
    rate: amountOf(rate, FEE) ?? "",
    ...(least === null ? {} : { min: least }),
    ...(most === null ? {} : { max: most }),
  };
}

type FeeTermsSent = {
  readonly flat: string;
  readonly rate: string;
  readonly min?: string;
  readonly max?: string;
};

function currencyOf({ currencyCode, sampleCurrency }: Written): string {
  return currencyCode === "" ? sampleCurrency : currencyCode;
}
