// Fields that the filters of several lists share.

import type { ReactNode } from "react";
import { useMessages } from "../../../i18n/language.tsx";
import { SelectField } from "../../../components/field.tsx";
import { OPERATOR_MESSAGES } from "../operator-messages.ts";

type ChoiceFilterProps = {
  readonly name: string;
  readonly label: string;
  /** The options by their value in the address, with their labels. */
  readonly choices: readonly (readonly [value: string, word: string])[];
  readonly className?: string;
};

/** One of several options, or all of them. */
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

/** A check box: checked, or the default. */
export function SwitchFilter({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <label className="flex min-h-9 items-center gap-2">
      <input type="checkbox" name={name} value="yes" className="size-4 accent-[var(--action)]" />
      {children}
    </label>
  );
}
