import { useQueryClient } from "@tanstack/react-query";
import { WifiOff } from "lucide-react";
import { useOutdated } from "../api/outdated.ts";
import { useFormats } from "../i18n/format.ts";
import { useMessages, type Messages } from "../i18n/language.tsx";
import { Button } from "./button.tsx";

const MESSAGES = {
  id: {
    away: "Tidak ada sambungan ke server.",
    asOf: (moment: string) => `Data di halaman ini per ${moment} WIB dan mungkin sudah berubah.`,
    again: "Coba lagi",
  },
  en: {
    away: "There is no connection to the server.",
    asOf: (moment: string) => `The data on this page is from ${moment} WIB and may have changed.`,
    again: "Try again",
  },
} satisfies Messages<Record<string, string | ((moment: string) => string)>>;

/** Shown while data cannot be fetched again, with the time of the shown data. */
export function OutdatedBanner() {
  const messages = useMessages(MESSAGES);
  const formats = useFormats();
  const queries = useQueryClient();
  const outdated = useOutdated();
  return (
    <div role="status" className={outdated === null ? "sr-only" : undefined}>
      {outdated === null ? null : (
        <div className="flex flex-wrap items-center justify-between gap-3 rounded-lg bg-warn-soft px-4 py-2 text-warn">
          <p className="flex min-w-0 items-center gap-2">
            <WifiOff className="size-4 shrink-0" aria-hidden />
            <span>
              <strong className="font-medium">{messages.away}</strong>{" "}
              {outdated.at === null ? null : messages.asOf(formats.time(outdated.at))}
            </span>
          </p>
          <Button onClick={() => void queries.refetchQueries({ type: "active" })}>{messages.again}</Button>
        </div>
      )}
    </div>
  );
}
