// What a token may do: a check box for each scope, with what it allows.

import { useId } from "react";
import { useWords } from "../../../i18n/language.tsx";
import { useValidity } from "../../../components/validity.ts";
import { SCOPE_NAMES, type ScopeName } from "./scopes.ts";
import { TOKENS_WORDS } from "./service-tokens-words.ts";

type ScopesFieldProps = {
  readonly chosen: readonly ScopeName[];
  readonly onChange: (chosen: readonly ScopeName[]) => void;
};

/** At least one is chosen: the server would read none as the first. */
export function ScopesField({ chosen, onChange }: ScopesFieldProps) {
  const words = useWords(TOKENS_WORDS);
  const ids = useId();
  const first = useValidity<HTMLInputElement>(chosen.length === 0 ? words.scopesMissing : "");
  return (
    <fieldset className="flex min-w-0 flex-col gap-2">
      <legend className="mb-1.5 text-[0.8125rem] font-medium">{words.scopes}</legend>
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
            <label htmlFor={`${ids}-${name}`}>{words[name]}</label>
            <p id={`${ids}-${name}-about`} className="text-xs text-muted">
              {words[`${name}About`]}
            </p>
          </div>
        </div>
      ))}
    </fieldset>
  );
}
