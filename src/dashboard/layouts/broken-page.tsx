// Replaces a page that failed to render. The frame around it stays.

import type { ErrorComponentProps } from "@tanstack/react-router";
import { RotateCw } from "lucide-react";
import { useMessages, type Messages } from "../i18n/language.tsx";
import { Button, LinkButton } from "../components/button.tsx";
import { Page } from "../components/page.tsx";

const MESSAGES = {
  id: {
    title: "Halaman ini tidak bisa ditampilkan",
    about:
      "Mungkin ada versi baru, sambungan terputus, atau ada yang salah di pihak kami. Data dan saldo Anda tidak berubah.",
    reload: "Muat ulang halaman",
    home: "Ke ringkasan",
    details: "Untuk laporan kepada kami",
  },
  en: {
    title: "This page cannot be shown",
    about:
      "There may be a new version, the connection may be lost, or something is wrong on our side. Your data and balance are as they were.",
    reload: "Reload the page",
    home: "To the overview",
    details: "For a report to us",
  },
} satisfies Messages<Record<string, string>>;

/** The message in the reader's language, with a way on. */
export function BrokenPage({ error }: ErrorComponentProps) {
  const messages = useMessages(MESSAGES);
  return (
    <Page title={messages.title}>
      <div role="alert" className="flex max-w-prose flex-col gap-4">
        <p className="text-muted">{messages.about}</p>
        <div className="flex flex-wrap gap-2">
          <Button variant="action" icon={<RotateCw aria-hidden />} onClick={() => window.location.reload()}>
            {messages.reload}
          </Button>
          <LinkButton to="/">{messages.home}</LinkButton>
        </div>
        <details>
          <summary className="text-muted">{messages.details}</summary>
          <code className="mt-2 block font-mono text-xs wrap-anywhere text-muted">{String(error)}</code>
        </details>
      </div>
    </Page>
  );
}
