// Filters of a list. They are sent as a form, by Enter or by a choice, and are then in the address.

import { Search } from "lucide-react";
import { type ChangeEvent, type FormEvent, type ReactNode, useEffect, useRef } from "react";
import { useMessages } from "../../../i18n/language.tsx";
import { Button } from "../../../components/button.tsx";
import { OPERATOR_MESSAGES } from "../operator-messages.ts";
import { useChangeAddress } from "./address.ts";

const NOTHING = {};

type FiltersProps = {
  /** The fields by their names in the address. */
  readonly values: Readonly<Record<string, string | undefined>>;
  /** The defaults where the address has no value, so that the fields show them. */
  readonly defaults?: Readonly<Record<string, string>>;
  readonly children: ReactNode;
};

/** The form around fields that have `name`s; it fills them from the address and writes them to it. */
export function Filters({ values, defaults = NOTHING, children }: FiltersProps) {
  const messages = useMessages(OPERATOR_MESSAGES);
  const change = useChangeAddress();
  const form = useRef<HTMLFormElement>(null);
  const names = Object.keys(values).join(" ");
  const shown = JSON.stringify({ ...defaults, ...setOf(values) });
  useEffect(() => {
    const now = JSON.parse(shown) as Record<string, string>;
    for (const name of names.split(" ")) fill(form.current, name, now[name] ?? "");
  }, [names, shown]);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const typed = new FormData(event.currentTarget);
    change(Object.fromEntries(Object.keys(values).map((name) => [name, textOf(typed, name)])));
    // An emptied field returns to its default, and shows it.
    for (const [name, value] of Object.entries(defaults)) {
      if (textOf(typed, name) === undefined) fill(event.currentTarget, name, value);
    }
  };
  // A choice applies at once, a typed text when the form is sent. A wrong text beside a choice is reported.
  const choose = ({ target }: ChangeEvent<HTMLFormElement>) => {
    const isChoice = target instanceof HTMLSelectElement || /^(checkbox|date)$/.test(target.type);
    if (isChoice && form.current?.reportValidity() === true) form.current.requestSubmit();
  };
  const isFiltered = Object.values(values).some((value) => value !== undefined);
  return (
    <form ref={form} role="search" onSubmit={submit} onChange={choose} className="flex flex-wrap items-end gap-3">
      {children}
      <Button type="submit" icon={<Search aria-hidden />}>
        {messages.search}
      </Button>
      {isFiltered ? (
        <Button
          variant="quiet"
          onClick={() => change(Object.fromEntries(Object.keys(values).map((name) => [name, undefined])))}
        >
          {messages.clear}
        </Button>
      ) : null}
    </form>
  );
}

function setOf(values: FiltersProps["values"]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

function textOf(typed: FormData, name: string): string | undefined {
  const value = typed.get(name);
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
}

function fill(form: HTMLFormElement | null, name: string, value: string): void {
  const control = form?.elements.namedItem(name);
  // Clears the problem of an earlier text; otherwise only typing clears it.
  if (control instanceof HTMLInputElement) control.setCustomValidity("");
  if (control instanceof HTMLInputElement && control.type === "checkbox") control.checked = value === control.value;
  else if (control instanceof HTMLInputElement || control instanceof HTMLSelectElement) control.value = value;
}
