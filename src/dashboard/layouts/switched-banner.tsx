import { RefreshCw } from "lucide-react";
import { useSwitchedElsewhere } from "../api/acting-for.ts";
import { Button } from "../components/button.tsx";
import { useMessages, type Messages } from "../i18n/language.tsx";

const MESSAGES = {
  id: {
    switched: "Akun diganti di tab lain.",
    about: "Halaman ini masih menampilkan akun sebelumnya dan tidak bisa mengubah apa pun.",
    reload: "Muat ulang halaman ini",
  },
  en: {
    switched: "The account was switched in another tab.",
    about: "This page still shows the former account and cannot change anything.",
    reload: "Reload this page",
  },
} satisfies Messages<Record<string, string>>;

/** Shown after a switch in another tab. The page stays until the person reloads it: what it shows may not be shown again. */
export function SwitchedBanner() {
  const messages = useMessages(MESSAGES);
  const isSwitched = useSwitchedElsewhere();
  return (
    <div role="status" className={isSwitched ? "mx-auto w-full max-w-6xl p-4 pb-0 sm:p-6 sm:pb-0" : "sr-only"}>
      {isSwitched ? (
        <div className="flex flex-wrap items-center justify-between gap-3 rounded-lg bg-warn-soft px-4 py-2 text-warn">
          <p className="flex min-w-0 items-center gap-2">
            <RefreshCw className="size-4 shrink-0" aria-hidden />
            <span>
              <strong className="font-medium">{messages.switched}</strong> {messages.about}
            </span>
          </p>
          <Button onClick={() => window.location.reload()}>{messages.reload}</Button>
        </div>
      ) : null}
    </div>
  );
}
