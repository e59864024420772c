// The frame of pages for people who are not signed in.

import { Link } from "@tanstack/react-router";
import { type ReactNode, useEffect } from "react";
import { Brand } from "./brand.tsx";
import { Choices } from "./choices.tsx";

/** One narrow column in the middle. */
export function Outside({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · Saldo`;
  }, [title]);
  return (
    <div className="flex min-h-dvh flex-col">
      <header className="flex items-center justify-between p-4">
        <Link to="/">
          <Brand />
        </Link>
        <Choices />
      </header>
      <main className="mx-auto flex w-full max-w-sm flex-1 flex-col justify-center gap-5 p-4 pb-24">
        <h1 className="text-2xl font-semibold tracking-tight">{title}</h1>
        {children}
      </main>
    </div>
  );
}
