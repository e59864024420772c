// Fields that stand between the filters of several lists.

import type { ReactNode } from "react";
import { useMessages } from "../../../i18n/language.tsx";
import { SelectField } from "../../../components/field.tsx";
import { OPERATOR_MESSAGES } from "../operator-messages.ts";

type ChoiceFilterProps = {
  readonly name: string;
  readonly label: string;
  /** What can be chosen, as the address has it, with the words that are shown. */
  readonly choices: readonly (readonly [value: string, word: string])[];
  readonly className?: string;
};

/** One of several, or all of them. */
export function ChoiceFilter({ choices, ...field }: ChoiceFilterProps) {
  const messages = useMessages(OPERATOR_MESSAGES);
  return (
    <SelectField {...field}>
      <option value="">{messages.all}</option>
      {choices.map(([value, word]) => (
        <option key={value} value={value}>
          {word}
        </option>
      ))}
    </SelectField>
  );
}

/** Yes, or what holds otherwise. */
export function SwitchFilter({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <label className="flex min-h-9 items-center gap-2">
      <input type="checkbox" name={name} value="yes" className="size-4 accent-[var(--action)]" />
      {children}
    </label>
  );
}
