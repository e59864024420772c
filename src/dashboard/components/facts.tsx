import type { ReactNode } from "react";

/** Ids made at the same time begin alike, so the end distinguishes them. */
const SHOWN_END = 12;

/** Names with their values, one below the other. */
export function Facts({ children }: { readonly children: ReactNode }) {
  return <dl className="flex flex-col gap-2">{children}</dl>;
}

/** One fact. A long value wraps; it is never cut off. */
export function Fact({ name, children }: { readonly name: ReactNode; readonly children: ReactNode }) {
  return (
    <div className="flex items-baseline justify-between gap-4">
      <dt className="shrink-0 text-muted">{name}</dt>
      <dd className="digits min-w-0 text-right break-words">{children}</dd>
    </div>
  );
}

/** The end of an id, where a row has no room for the whole. */
export function ShortId({ id }: { readonly id: string }) {
  return (
    <code title={id} className="font-mono whitespace-nowrap">
      …{id.slice(-SHOWN_END)}
    </code>
  );
}

/** Monospaced text: ids, models, codes. */
export function Mono({ children }: { readonly children: ReactNode }) {
  return <code className="font-mono text-[0.8125rem] break-words">{children}</code>;
}
