import { useId } from "react";

type SegmentsProps<Value extends string> = {
  /** The name of the choice for screen readers. */
  readonly label: string;
  readonly value: Value;
  readonly choices: readonly { readonly value: Value; readonly label: string }[];
  readonly onChange: (value: Value) => void;
};

/** A choice of a few options, all visible. They are real radio buttons: arrow keys move between them. */
export function Segments<Value extends string>({ label, value, choices, onChange }: SegmentsProps<Value>) {
  const name = useId();
  return (
    <fieldset className="inline-flex flex-wrap rounded-lg bg-sunken p-0.5">
      <legend className="sr-only">{label}</legend>
      {choices.map((choice) => (
        <label
          key={choice.value}
          className="cursor-pointer rounded-md border border-transparent px-3 py-1.5 text-[0.8125rem] font-medium text-muted has-checked:border-line has-checked:bg-card has-checked:text-ink has-focus-visible:outline-2 has-focus-visible:outline-[var(--focus)]"
        >
          <input
            type="radio"
            name={name}
            value={choice.value}
            checked={choice.value === value}
            onChange={() => onChange(choice.value)}
            className="sr-only"
          />
          {choice.label}
        </label>
      ))}
    </fieldset>
  );
}
