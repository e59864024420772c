import { useWords, type Words } from "../../../language/language.tsx";
import { TextField } from "../../../parts/field.tsx";

const WORDS = {
  id: {
    hint: "Titik untuk desimal, paling banyak 6 angka di belakangnya.",
    wrong: "Tulis angka lebih dari nol, tanpa pemisah ribuan, misalnya 25000 atau 0.5.",
  },
  en: {
    hint: "A point for decimals, at most 6 of them.",
    wrong: "Write a number above zero without separators of thousands, such as 25000 or 0.5.",
  },
} satisfies Words<Record<string, string>>;

/** Above 0 with at most six decimals, as the contracts take rupiah. */
const ABOVE_ZERO = "(?=.*[1-9])(0|[1-9][0-9]{0,12})(\\.[0-9]{1,6})?";

type AmountFieldProps = {
  readonly label: string;
  readonly value: string;
  readonly onChange: (amount: string) => void;
  readonly required?: boolean;
};

/** An amount of rupiah. What the server would refuse is told while it is typed. */
export function AmountField({ label, value, onChange, required = false }: AmountFieldProps) {
  const words = useWords(WORDS);
  const isWrong = value !== "" && !new RegExp(`^${ABOVE_ZERO}$`).test(value);
  return (
    <TextField
      label={label}
      hint={words.hint}
      {...(isWrong ? { problem: words.wrong } : {})}
      inputMode="decimal"
      pattern={ABOVE_ZERO}
      title={words.wrong}
      autoComplete="off"
      required={required}
      value={value}
      onChange={({ target }) => onChange(target.value.trim())}
    />
  );
}
