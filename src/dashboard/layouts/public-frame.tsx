// The frame of public pages for people without a session.

import { Link, Outlet } from "@tanstack/react-router";
import { useMessages, type Messages } from "../i18n/language.tsx";
import { buttonClass, LinkButton } from "../components/button.tsx";
import { Brand } from "./brand.tsx";
import { Choices } from "./choices.tsx";

const MESSAGES = {
  id: {
    skip: "Langsung ke isi",
    pages: "Halaman umum",
    more: "Tautan lain",
    models: "Model & harga",
    docs: "Dokumentasi",
    reference: "Referensi API",
    status: "Status layanan",
    signIn: "Masuk",
    signUp: "Daftar",
  },
  en: {
    skip: "Skip to content",
    pages: "Public pages",
    more: "More links",
    models: "Models & prices",
    docs: "Documentation",
    reference: "API reference",
    status: "Service status",
    signIn: "Sign in",
    signUp: "Sign up",
  },
} satisfies Messages<Record<string, string>>;

const LINK = "inline-flex min-h-8 items-center rounded-lg px-2.5 text-muted hover:bg-sunken hover:text-ink";
const CURRENT = "data-[status=active]:bg-sunken data-[status=active]:text-ink";

/** A header, the page, and a footer with the same links: a phone's header has no room for them. */
export function PublicFrame() {
  const messages = useMessages(MESSAGES);
  return (
    <div>
      <a
        href="#content"
        className={buttonClass("action", "fixed top-2 left-2 z-50 -translate-y-16 focus:translate-y-0")}
      >
        {messages.skip}
      </a>
      <header className="sticky top-0 z-20 flex h-14 items-center justify-between gap-2 border-b border-line bg-card px-4">
        <div className="flex items-center gap-4">
          <Link to="/">
            <Brand />
          </Link>
          <nav aria-label={messages.pages} className="flex gap-1 max-md:hidden">
            <PublicLinks />
          </nav>
        </div>
        <div className="flex items-center gap-2">
          <Choices />
          <LinkButton to="/sign-in">{messages.signIn}</LinkButton>
          <LinkButton to="/sign-up" variant="action" className="max-sm:hidden">
            {messages.signUp}
          </LinkButton>
        </div>
      </header>
      {/* A footer inside the first screen would move when the page grows. */}
      <main id="content" tabIndex={-1} className="min-h-[calc(100dvh-3.5rem)] min-w-0 outline-none">
        <Outlet />
      </main>
      <footer className="border-t border-line">
        <nav aria-label={messages.more} className="mx-auto flex w-full max-w-6xl flex-wrap gap-1 px-2 py-4 sm:px-4">
          <PublicLinks />
          <Link to="/docs/api" className={`${LINK} ${CURRENT}`}>
            {messages.reference}
          </Link>
          <Link to="/status" className={`${LINK} ${CURRENT}`}>
            {messages.status}
          </Link>
          <a href="/llms.txt" className={LINK}>
            llms.txt
          </a>
          <Link to="/sign-up" className={LINK}>
            {messages.signUp}
          </Link>
        </nav>
      </footer>
    </div>
  );
}

function PublicLinks() {
  const messages = useMessages(MESSAGES);
  return (
    <>
      <Link to="/models" className={`${LINK} ${CURRENT}`}>
        {messages.models}
      </Link>
      <Link to="/docs" className={`${LINK} ${CURRENT}`}>
        {messages.docs}
      </Link>
    </>
  );
}
