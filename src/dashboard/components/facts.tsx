import type { ReactNode } from "react";

/** Ids of the same time begin alike, so the end tells them apart. */
const SHOWN_END = 12;

/** Names and what they are, one under the other. */
export function Facts({ children }: { readonly children: ReactNode }) {
  return <dl className="flex flex-col gap-2">{children}</dl>;
}

/** One of them. A long value goes on below, it is never cut off. */
export function Fact({ name, children }: { readonly name: ReactNode; readonly children: ReactNode }) {
  return (
    <div className="flex items-baseline justify-between gap-4">
      <dt className="shrink-0 text-muted">{name}</dt>
      <dd className="digits min-w-0 text-right break-words">{children}</dd>
    </div>
  );
}

/** The end of an id, where a row has no room for all of it. */
export function ShortId({ id }: { readonly id: string }) {
  return (
    <code title={id} className="font-mono whitespace-nowrap">
      …{id.slice(-SHOWN_END)}
    </code>
  );
}

/** An id, a model, a reason: what is typed by machines. */
export function Mono({ children }: { readonly children: ReactNode }) {
  return <code className="font-mono text-[0.8125rem] break-words">{children}</code>;
}
