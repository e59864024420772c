// Pages that are public: in the usual frame for signed-in people, and in a plain one for others.

import { useQuery } from "@connectrpc/connect-query";
import { Outlet } from "@tanstack/react-router";
import { AccountsService } from "#gen/saldo/accounts/v1/accounts_service_pb.ts";
import { useMessages, type Messages } from "../i18n/language.tsx";
import { LinkButton } from "../components/button.tsx";
import { Brand } from "./brand.tsx";
import { Choices } from "./choices.tsx";
import { Inside } from "./inside.tsx";
import { readerOf } from "./signed-in.tsx";

const MESSAGES = {
  id: { signIn: "Masuk" },
  en: { signIn: "Sign in" },
} satisfies Messages<Record<string, string>>;

/**
 * The signed-in person, if any. That there is none is a valid answer here and is not fetched again: a new fetch while a
 * frame is shown would remove it.
 */
export function useVisitor() {
  const once = { retryOnMount: false, refetchOnWindowFocus: false, refetchOnReconnect: false };
  return useQuery(AccountsService.method.getMe, {}, once);
}

/** The frame; the page renders in its outlet. */
export function OpenToAll() {
  const messages = useMessages(MESSAGES);
  const { data, isPending } = useVisitor();
  // The right frame is known in a moment; replacing a wrong one would move the whole page.
  if (isPending) return <div className="min-h-dvh" aria-busy />;
  if (data?.person !== undefined) return <Inside reader={readerOf(data)} />;
  return (
    <>
      <header className="sticky top-0 z-20 flex h-14 items-center justify-between gap-2 border-b border-line bg-card px-4">
        <Brand />
        <div className="flex items-center gap-2">
          <Choices />
          <LinkButton to="/sign-in" variant="action">
            {messages.signIn}
          </LinkButton>
        </div>
      </header>
      <main className="min-w-0">
        <Outlet />
      </main>
    </>
  );
}
