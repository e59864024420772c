// A field for money: it reads amounts as people write them, and shows the result in full before it is sent.

import { type ReactNode, useState } from "react";
import { type Decimal, useFormats } from "../i18n/format.ts";
import { useLanguage, useMessages } from "../i18n/language.tsx";
import { type AmountRules, type ReadAmount, readAmount, RUPIAH } from "../i18n/read-amount.ts";
import { TextField } from "./field.tsx";

const MESSAGES = {
  id: {
    empty: "Isi jumlahnya.",
    noNumber: "Tulis angka saja, misalnya 25000 atau 0,5.",
    zero: "Tulis angka lebih dari nol.",
    notWhole: "Tulis rupiah bulat, tanpa sen.",
    tooFine: (most: number) => `Maksimal ${most} angka di belakang koma.`,
    ambiguous: (text: string, grouped: string, fraction: string) =>
      `“${text}” bisa dibaca dua cara. Tulis ${grouped} atau ${fraction}.`,
  },
  en: {
    empty: "Enter the amount.",
    noNumber: "Write digits only, such as 25000 or 0.5.",
    zero: "Write a number above zero.",
    notWhole: "Write whole rupiah, without cents.",
    tooFine: (most: number) => `At most ${most} decimals.`,
    ambiguous: (text: string, grouped: string, fraction: string) =>
      `“${text}” can be read in two ways. Write ${grouped} or ${fraction}.`,
  },
};

type AmountFieldProps = {
  readonly label: string;
  readonly hint?: ReactNode;
  /** The text as typed; `amountOf` reads its amount by the same rules. */
  readonly value: string;
  readonly onChange: (typed: string) => void;
  /** The allowed amounts. Left out: rupiah above zero, to the millionth. */
  readonly rules?: AmountRules;
  /** Formats the amount that was read. Left out: as rupiah. */
  readonly written?: (amount: Decimal) => string;
  /** A further check of the amount. */
  readonly limit?: (amount: Decimal) => string | null;
  readonly required?: boolean;
  /** Whether sending the form was tried: a wrong amount is then reported at once. */
  readonly isTried?: boolean;
  readonly className?: string;
};

/** An amount, with the value that was read beside it. A problem is shown when the field loses the focus. */
export function AmountField({
  label,
  hint,
  value,
  onChange,
  rules = RUPIAH,
  written,
  limit,
  required = false,
  isTried = false,
  className,
}: AmountFieldProps) {
  const formats = useFormats();
  const [isLeft, setLeft] = useState(false);
  const complaintOf = useComplaint();
  const read = readAmount(value, rules);
  const isMissing = "wrong" in read && read.wrong === "empty" && !required;
  const complaint = isMissing
    ? null
    : "amount" in read
      ? (limit?.(read.amount) ?? null)
      : complaintOf(value, read, rules);
  const isTold = complaint !== null && (isTried || (isLeft && value !== ""));
  return (
    <div className={`flex flex-col gap-1 ${className ?? ""}`}>
      <TextField
        label={label}
        hint={hint}
        complaint={complaint ?? ""}
        {...(isTold ? { problem: complaint } : {})}
        inputMode="decimal"
        autoComplete="off"
        maxLength={64}
        value={value}
        onBlur={() => setLeft(true)}
        onChange={({ target }) => {
          setLeft(false);
          onChange(target.value);
        }}
      />
      <output className="digits min-h-4 text-xs font-medium break-all text-good">
        {"amount" in read ? `= ${(written ?? formats.exactRupiah)(read.amount)}` : ""}
      </output>
    </div>
  );
}

/** The sentence for a wrong amount; for an ambiguous one it shows how to write each meaning. */
function useComplaint(): (typed: string, read: Extract<ReadAmount, { wrong: string }>, rules: AmountRules) => string {
  const messages = useMessages(MESSAGES);
  const { language } = useLanguage();
  return (typed, read, { decimals }) => {
    if (read.wrong === "tooFine") return messages.tooFine(decimals);
    if (read.wrong !== "ambiguous") return messages[read.wrong];
    // A fourth decimal makes a fraction of three digits unambiguous.
    const fraction = /\.\d{3}$/.test(read.fraction) ? `${read.fraction}0` : read.fraction;
    return messages.ambiguous(typed.trim(), read.grouped, language === "id" ? fraction.replace(".", ",") : fraction);
  };
}
