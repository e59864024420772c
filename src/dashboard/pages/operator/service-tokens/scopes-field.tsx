// The scopes of a token: a check box for each, with what it allows.

import { useId } from "react";
import { useMessages } from "../../../i18n/language.tsx";
import { useValidity } from "../../../components/validity.ts";
import { SCOPE_NAMES, type ScopeName } from "./scopes.ts";
import { TOKENS_MESSAGES } from "./service-tokens-messages.ts";

type ScopesFieldProps = {
  readonly chosen: readonly ScopeName[];
  readonly onChange: (chosen: readonly ScopeName[]) => void;
};

/** At least one is required: the server would read none as the first. */
export function ScopesField({ chosen, onChange }: ScopesFieldProps) {
  const messages = useMessages(TOKENS_MESSAGES);
  const ids = useId();
  const first = useValidity<HTMLInputElement>(chosen.length === 0 ? messages.scopesMissing : "");
  return (
    <fieldset className="flex min-w-0 flex-col gap-2">
      <legend className="mb-1.5 text-[0.8125rem] font-medium">{messages.scopes}</legend>
      {SCOPE_NAMES.map((name, index) => (
        <div key={name} className="flex min-h-6 items-start gap-2.5">
          <input
            {...(index === 0 ? first : {})}
            id={`${ids}-${name}`}
            aria-describedby={`${ids}-${name}-about`}
            type="checkbox"
            checked={chosen.includes(name)}
            onChange={({ target }) =>
              onChange(SCOPE_NAMES.filter((each) => (each === name ? target.checked : chosen.includes(each))))
            }
            className="mt-0.5 size-4 shrink-0 accent-[var(--action)]"
          />
          <div className="min-w-0">
            <label htmlFor={`${ids}-${name}`}>{messages[name]}</label>
            <p id={`${ids}-${name}-about`} className="text-xs text-muted">
              {messages[`${name}About`]}
            </p>
          </div>
        </div>
      ))}
    </fieldset>
  );
}
