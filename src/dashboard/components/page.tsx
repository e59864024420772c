import { type ReactNode, useEffect } from "react";
import { OutdatedBanner } from "./outdated-banner.tsx";
import { setPageTitle } from "./page-title.ts";

type PageProps = {
  readonly title: string;
  readonly about?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
};

/** The layout of a page: its title, which is also the window's, its actions, and its content. */
export function Page({ title, about, actions, children }: PageProps) {
  useEffect(() => setPageTitle(title), [title]);
  return (
    <div className="mx-auto flex w-full max-w-6xl flex-col gap-4 p-4 sm:p-6">
      <OutdatedBanner />
      <header className="flex flex-wrap items-end justify-between gap-3">
        <div className="min-w-0">
          <h1 className="text-2xl font-semibold tracking-tight">{title}</h1>
          {about === undefined ? null : <p className="mt-0.5 text-muted">{about}</p>}
        </div>
        {actions === undefined ? null : <div className="flex flex-wrap gap-2">{actions}</div>}
      </header>
      {children}
    </div>
  );
}
