// Signing out. A failed sign-out leaves the person signed in, and the page has to show that.

import { LogOut } from "lucide-react";
import { useState } from "react";
import { isSessionOver, signOut } from "../api/sign-in.ts";
import { useMessages, type Messages } from "../i18n/language.tsx";
import { useNotify } from "../components/notices.tsx";
import { rememberSignedIn } from "./was-signed-in.ts";

const MESSAGES = {
  id: {
    signOut: "Keluar",
    again: "Coba keluar lagi",
    failed: "Anda belum keluar",
    failedAbout: "Permintaan gagal dan sesi Anda masih berlaku. Periksa sambungan Anda, lalu coba lagi.",
  },
  en: {
    signOut: "Sign out",
    again: "Try to sign out again",
    failed: "You are still signed in",
    failedAbout: "The request failed and your session still works. Check your connection, then try again.",
  },
} satisfies Messages<Record<string, string>>;

/** Ends the session and opens the page for signing in; stays where the session may not have ended. */
export function SignOut() {
  const messages = useMessages(MESSAGES);
  const notify = useNotify();
  const [state, setState] = useState<"signed in" | "leaving" | "failed">("signed in");
  const leave = async () => {
    setState("leaving");
    try {
      await signOut();
    } catch (error) {
      if (!isSessionOver(error)) {
        setState("failed");
        notify(messages.failed, messages.failedAbout);
        return;
      }
    }
    rememberSignedIn(false);
    // A full load, so that no data of one person stays in memory for the next.
    window.location.assign("/sign-in");
  };
  return (
    <button
      type="button"
      disabled={state === "leaving"}
      aria-busy={state === "leaving"}
      onClick={() => void leave()}
      className="flex min-h-9 w-full items-center gap-3 rounded-lg px-3 text-muted hover:bg-sunken hover:text-ink"
    >
      <LogOut className="size-4" aria-hidden />
      {state === "failed" ? messages.again : messages.signOut}
    </button>
  );
}
