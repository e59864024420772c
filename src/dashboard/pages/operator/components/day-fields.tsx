import { useMessages } from "../../../i18n/language.tsx";
import { TextField } from "../../../components/field.tsx";
import { OPERATOR_MESSAGES } from "../operator-messages.ts";

/** The first and the last day of a filter; either may be empty. */
export function DayFields() {
  const messages = useMessages(OPERATOR_MESSAGES);
  return (
    <>
      <TextField type="date" name="from" label={messages.from} />
      <TextField type="date" name="to" label={messages.until} />
    </>
  );
}
