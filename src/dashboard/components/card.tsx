import type { ReactNode } from "react";

type CardProps = {
  readonly title?: ReactNode;
  /** Content at the right of the title. */
  readonly aside?: ReactNode;
  readonly children: ReactNode;
  /** The content fills the card without padding, as tables do. */
  readonly flush?: boolean;
  readonly className?: string;
};

/** A section of a page with a border. */
export function Card({ title, aside, children, flush = false, className = "" }: CardProps) {
  return (
    <section className={`min-w-0 rounded-xl border border-line bg-card ${flush ? "" : "p-4"} ${className}`}>
      {title === undefined ? null : (
        <div className={`flex flex-wrap items-center justify-between gap-3 ${flush ? "px-4 pt-4 pb-3" : "pb-3"}`}>
          <h2 className="text-base font-semibold">{title}</h2>
          {aside}
        </div>
      )}
      {children}
    </section>
  );
}

type StatProps = {
  readonly label: ReactNode;
  readonly children: ReactNode;
  readonly hint?: ReactNode;
};

/** One number with its name. */
export function Stat({ label, children, hint }: StatProps) {
  return (
    <div className="min-w-0 rounded-xl border border-line bg-card p-3 sm:p-4">
      <p className="text-[0.8125rem] text-muted">{label}</p>
      <p className="digits mt-1 text-base font-semibold tracking-tight wrap-anywhere sm:text-2xl">{children}</p>
      {hint === undefined ? null : <p className="mt-1 text-xs text-muted">{hint}</p>}
    </div>
  );
}
