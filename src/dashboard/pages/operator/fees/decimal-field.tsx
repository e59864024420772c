import { useWords } from "../../../language/language.tsx";
import { TextField } from "../../../parts/field.tsx";
import { FEES_WORDS } from "./fees-words.ts";

/** Digits with a point, as many as there are; what is too many for a coin, the server says. */
const DECIMAL = "[0-9]+(\\.[0-9]+)?";
const LONGEST = 64;

type DecimalFieldProps = {
  readonly label: string;
  readonly hint?: string;
  readonly value: string;
  readonly onChange: (text: string) => void;
  readonly required?: boolean;
};

/** An amount of coins or a part of one. */
export function DecimalField({ label, hint, value, onChange, required = false }: DecimalFieldProps) {
  const words = useWords(FEES_WORDS);
  const isWrong = value !== "" && !new RegExp(`^${DECIMAL}$`).test(value);
  return (
    <TextField
      label={label}
      {...(hint === undefined ? {} : { hint })}
      {...(isWrong ? { problem: words.decimalWrong } : {})}
      required={required}
      inputMode="decimal"
      pattern={DECIMAL}
      title={words.decimalWrong}
      maxLength={LONGEST}
      autoComplete="off"
      value={value}
      onChange={({ target }) => onChange(target.value.trim())}
    />
  );
}
