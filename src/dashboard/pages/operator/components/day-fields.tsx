import { useWords } from "../../../i18n/language.tsx";
import { TextField } from "../../../components/field.tsx";
import { OPERATOR_WORDS } from "../operator-words.ts";

/** The first and the last day of a filter; both may be empty. */
export function DayFields() {
  const words = useWords(OPERATOR_WORDS);
  return (
    <>
      <TextField type="date" name="from" label={words.from} />
      <TextField type="date" name="to" label={words.until} />
    </>
  );
}
