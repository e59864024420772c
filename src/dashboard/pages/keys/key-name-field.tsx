import { useMessages } from "../../i18n/language.tsx";
import { TextField } from "../../components/field.tsx";
import { KEYS_MESSAGES } from "./keys-messages.ts";

const MOST_CHARACTERS = 100;

/** Whether the server accepts a name. */
export function isKeyName(name: string): boolean {
  const { length } = Array.from(name.trim());
  return length > 0 && length <= MOST_CHARACTERS;
}

/** The name of a key, for making and renaming one. */
export function KeyNameField({
  value,
  onChange,
  isWrong,
}: {
  readonly value: string;
  readonly onChange: (name: string) => void;
  readonly isWrong: boolean;
}) {
  const messages = useMessages(KEYS_MESSAGES);
  return (
    <TextField
      label={messages.name}
      placeholder={messages.namePlaceholder}
      value={value}
      onChange={({ target }) => onChange(target.value)}
      autoComplete="off"
      // The dialog has no other first field.
      // oxlint-disable-next-line jsx-a11y/no-autofocus
      autoFocus
      {...(isWrong ? { problem: messages.nameProblem } : {})}
    />
  );
}
