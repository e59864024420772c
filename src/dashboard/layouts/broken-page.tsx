// What stands in the place of a page that cannot be shown. The frame around it stays.

import type { ErrorComponentProps } from "@tanstack/react-router";
import { RotateCw } from "lucide-react";
import { useWords, type Words } from "../i18n/language.tsx";
import { Button, LinkButton } from "../components/button.tsx";
import { Page } from "../components/page.tsx";

const WORDS = {
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
} satisfies Words<Record<string, string>>;

/** Says so in the reader's language, and leads on. */
export function BrokenPage({ error }: ErrorComponentProps) {
  const words = useWords(WORDS);
  return (
    <Page title={words.title}>
      <div role="alert" className="flex max-w-prose flex-col gap-4">
        <p className="text-muted">{words.about}</p>
        <div className="flex flex-wrap gap-2">
          <Button look="action" icon={<RotateCw aria-hidden />} onClick={() => window.location.reload()}>
            {words.reload}
          </Button>
          <LinkButton to="/">{words.home}</LinkButton>
        </div>
        <details>
          <summary className="text-muted">{words.details}</summary>
          <code className="mt-2 block font-mono text-xs wrap-anywhere text-muted">{String(error)}</code>
        </details>
      </div>
    </Page>
  );
}
