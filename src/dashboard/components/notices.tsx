// Short notices at the lower edge: that an action succeeded or failed.

import { Toast } from "@base-ui/react/toast";
import { X } from "lucide-react";
import type { ReactNode } from "react";
import { useMessages, type Messages } from "../i18n/language.tsx";

const MESSAGES = {
  id: { close: "Tutup", notices: "Pemberitahuan" },
  en: { close: "Close", notices: "Notices" },
} satisfies Messages<Record<string, string>>;

/** Lets the components below show notices. */
export function NoticeProvider({ children }: { readonly children: ReactNode }) {
  const messages = useMessages(MESSAGES);
  return (
    <Toast.Provider timeout={6_000}>
      {children}
      <Toast.Portal>
        <Toast.Viewport
          aria-label={messages.notices}
          className="fixed right-4 bottom-4 z-60 flex w-[min(24rem,calc(100vw-2rem))] flex-col gap-2"
        >
          <Notices />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  );
}

/** Shows a notice: `notify("Kunci dicabut")`. */
export function useNotify(): (title: string, about?: string) => void {
  const { add } = Toast.useToastManager();
  return (title, about) => void add({ title, description: about });
}

function Notices() {
  const { toasts } = Toast.useToastManager();
  const messages = useMessages(MESSAGES);
  return toasts.map((toast) => (
    <Toast.Root
      key={toast.id}
      toast={toast}
      className="flex items-start justify-between gap-3 rounded-xl border border-line bg-card p-4 shadow-lg"
    >
      <div className="min-w-0">
        <Toast.Title className="font-medium" />
        <Toast.Description className="text-muted" />
      </div>
      <Toast.Close
        aria-label={messages.close}
        className="inline-flex size-6 items-center justify-center rounded hover:bg-sunken"
      >
        <X className="size-4" aria-hidden />
      </Toast.Close>
    </Toast.Root>
  ));
}
