// The states of a section without content: loading, empty or failed.

import { CircleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { factsOf } from "../api/transport.ts";
import { useMessages, type Messages } from "../i18n/language.tsx";
import { Button } from "./button.tsx";

const MESSAGES = {
  id: {
    failed: "Bagian ini gagal dimuat",
    later: "Coba lagi sebentar lagi. Kalau tetap gagal, sebutkan ID permintaan ini kepada kami.",
    unreached: "Server tidak bisa dihubungi atau terlalu lama menjawab. Periksa sambungan Anda, lalu coba lagi.",
    again: "Coba lagi",
    stale: "Data terakhir ditampilkan; pembaruan gagal.",
    loading: "Memuat…",
  },
  en: {
    failed: "This part could not be loaded",
    later: "Try again in a moment. If it keeps failing, send us this request id.",
    unreached: "The server cannot be reached or took too long. Check your connection, then try again.",
    again: "Try again",
    stale: "The last data is shown; it could not be refreshed.",
    loading: "Loading…",
  },
} satisfies Messages<Record<string, string>>;

/** A grey placeholder of the size of the content. */
export function Skeleton({ className = "h-4 w-full" }: { readonly className?: string }) {
  return <span aria-hidden className={`block animate-pulse rounded-md bg-sunken ${className}`} />;
}

/** Grey lines while a table or list loads. */
export function SkeletonLines({ lines = 4 }: { readonly lines?: number }) {
  const messages = useMessages(MESSAGES);
  return (
    <div role="status" className="flex flex-col gap-4 p-4">
      <span className="sr-only">{messages.loading}</span>
      {Array.from({ length: lines }, (_, line) => (
        <Skeleton key={line} className="h-5 w-full" />
      ))}
    </div>
  );
}

/** An empty section: that nothing is there yet, why, and what to do about it. */
export function Empty({
  title,
  children,
  action,
}: {
  readonly title: string;
  readonly children?: ReactNode;
  readonly action?: ReactNode;
}) {
  return (
    <div className="flex flex-col items-center gap-2 px-4 py-10 text-center">
      <p className="text-base font-semibold">{title}</p>
      {children === undefined ? null : <div className="max-w-prose text-muted">{children}</div>}
      {action === undefined ? null : <div className="mt-2">{action}</div>}
    </div>
  );
}

/** A section that failed; the other sections of the page stay. */
export function Failed({ error, retry }: { readonly error: unknown; readonly retry?: () => void }) {
  const messages = useMessages(MESSAGES);
  const requestId = factsOf(error)?.requestId ?? "";
  return (
    <div role="alert" className="flex flex-col items-start gap-2 rounded-lg bg-bad-soft p-4 text-bad">
      <p className="flex items-center gap-2 font-medium">
        <CircleAlert className="size-4" aria-hidden />
        {messages.failed}
      </p>
      <p>{requestId === "" ? messages.unreached : messages.later}</p>
      {requestId === "" ? null : <code className="font-mono text-xs break-all">{requestId}</code>}
      {retry === undefined ? null : <Button onClick={retry}>{messages.again}</Button>}
    </div>
  );
}

/** The notice above earlier content when fetching it again failed. */
export function Stale() {
  const messages = useMessages(MESSAGES);
  return (
    <p role="alert" className="rounded-lg bg-warn-soft px-4 py-2 text-warn">
      {messages.stale}
    </p>
  );
}
