import {
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useId,
} from "react";
import { useValidity } from "./validity.ts";

type Around = {
  readonly label: ReactNode;
  /** A sentence under the field. */
  readonly hint?: ReactNode;
  /** The problem with the value now. */
  readonly problem?: ReactNode;
};

/**
 * The problem that keeps the form from being sent, in the page's language; the browser's own checks are worded in it
 * too.
 */
type Complaint = { readonly complaint?: string | undefined };

const BOX =
  "w-full min-h-9 rounded-lg border border-line-strong bg-card px-3 text-sm text-ink placeholder:text-muted aria-invalid:border-bad disabled:opacity-60";

/** A text input with its label and its problem. */
export function TextField({
  label,
  hint,
  problem,
  complaint,
  className,
  ...rest
}: Around & Complaint & InputHTMLAttributes<HTMLInputElement>) {
  const ids = useFieldIds({ hint, problem });
  const validity = useValidity<HTMLInputElement>(complaint);
  return (
    <Labelled {...{ label, hint, problem, ids }} className={className}>
      <input {...rest} {...ids.control} {...validity} className={BOX} />
    </Labelled>
  );
}

/** An input of several lines. */
export function TextArea({
  label,
  hint,
  problem,
  className,
  ...rest
}: Around & TextareaHTMLAttributes<HTMLTextAreaElement>) {
  const ids = useFieldIds({ hint, problem });
  const validity = useValidity<HTMLTextAreaElement>();
  return (
    <Labelled {...{ label, hint, problem, ids }} className={className}>
      <textarea {...rest} {...ids.control} {...validity} className={`${BOX} py-2`} />
    </Labelled>
  );
}

/** A native select: it works with every keyboard and on every phone. */
export function SelectField({
  label,
  hint,
  problem,
  className,
  children,
  ...rest
}: Around & SelectHTMLAttributes<HTMLSelectElement>) {
  const ids = useFieldIds({ hint, problem });
  return (
    <Labelled {...{ label, hint, problem, ids }} className={className}>
      <select {...rest} {...ids.control} className={`${BOX} pr-8`}>
        {children}
      </select>
    </Labelled>
  );
}

type FieldIds = {
  readonly hint: string;
  readonly problem: string;
  readonly control: {
    readonly id: string;
    readonly "aria-invalid": boolean;
    readonly "aria-describedby": string | undefined;
  };
};

function useFieldIds({ hint, problem }: Pick<Around, "hint" | "problem">): FieldIds {
  const id = useId();
  const described = [hint === undefined ? [] : [`${id}-hint`], problem === undefined ? [] : [`${id}-problem`]].flat();
  return {
    hint: `${id}-hint`,
    problem: `${id}-problem`,
    control: { id, "aria-invalid": problem !== undefined, "aria-describedby": described.join(" ") || undefined },
  };
}

function Labelled({
  label,
  hint,
  problem,
  ids,
  className = "",
  children,
}: Around & { readonly ids: FieldIds; readonly className?: string | undefined; readonly children: ReactNode }) {
  return (
    <div className={`flex min-w-0 flex-col gap-1.5 ${className}`}>
      <label htmlFor={ids.control.id} className="text-[0.8125rem] font-medium">
        {label}
      </label>
      {children}
      {hint === undefined ? null : (
        <p id={ids.hint} className="text-xs text-muted">
          {hint}
        </p>
      )}
      {problem === undefined ? null : (
        <p id={ids.problem} className="text-xs text-bad">
          {problem}
        </p>
      )}
    </div>
  );
}
