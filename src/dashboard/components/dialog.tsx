import { Dialog as Base } from "@base-ui/react/dialog";
import { X } from "lucide-react";
import type { ReactNode } from "react";
import { useMessages, type Messages } from "../i18n/language.tsx";

const MESSAGES = { id: { close: "Tutup" }, en: { close: "Close" } } satisfies Messages<Record<string, string>>;

type DialogProps = {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly title: ReactNode;
  readonly about?: ReactNode;
  readonly children: ReactNode;
  /**
   * Content that cannot be shown again is not closed by Escape, the backdrop or a cross: only by a button of its own.
   */
  readonly kept?: boolean;
  /** At the right edge, for details of a row. */
  readonly side?: boolean;
  /** Wide, for code or tables. */
  readonly wide?: boolean;
};

const MIDDLE = "top-1/2 left-1/2 max-h-[90dvh] max-w-[calc(100vw-2rem)] -translate-x-1/2 -translate-y-1/2 rounded-xl";
const SIDE = "top-0 right-0 h-dvh border-y-0 border-r-0";

/** A step that is done before the page goes on. */
export function Dialog({
  open,
  onClose,
  title,
  about,
  children,
  kept = false,
  side = false,
  wide = false,
}: DialogProps) {
  const messages = useMessages(MESSAGES);
  return (
    <Base.Root
      open={open}
      disablePointerDismissal={kept}
      onOpenChange={(isOpen, details) => {
        if (isOpen) return;
        if (kept) details.cancel();
        else onClose();
      }}
    >
      <Base.Portal>
        {/* The same layer as the dialogs below: a dialog over another dims that one, too. */}
        <Base.Backdrop className="fixed inset-0 z-50 bg-black/50" />
        <Base.Popup
          data-dialog={side ? "side" : "middle"}
          className={`fixed z-50 flex flex-col gap-4 overflow-y-auto border border-line bg-card p-5 ${side ? `${SIDE} ${wide ? "w-[min(44rem,100vw)]" : "w-[min(30rem,100vw)]"}` : `${MIDDLE} ${wide ? "w-[44rem]" : "w-[34rem]"}`}`}
        >
          <div className="flex items-start justify-between gap-4">
            <div className="min-w-0">
              <Base.Title className="text-lg font-semibold">{title}</Base.Title>
              {about === undefined ? null : <Base.Description className="mt-1 text-muted">{about}</Base.Description>}
            </div>
            {kept ? null : (
              <Base.Close
                aria-label={messages.close}
                className="-mt-1 -mr-1 inline-flex size-9 items-center justify-center rounded-lg hover:bg-sunken"
              >
                <X className="size-4" aria-hidden />
              </Base.Close>
            )}
          </div>
          {children}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
