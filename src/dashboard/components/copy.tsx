import { Check, Copy } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { useMessages, type Messages } from "../i18n/language.tsx";
import { Button } from "./button.tsx";

const MESSAGES = {
  id: { copy: "Salin", copied: "Tersalin", failed: "Pilih teksnya lalu salin sendiri" },
  en: { copy: "Copy", copied: "Copied", failed: "Select the text and copy it yourself" },
} satisfies Messages<Record<string, string>>;

const SHOWN_MS = 2_000;

type CopyProps = { readonly text: string; readonly what?: string };

function useCopy(text: string) {
  const [state, setState] = useState<"copy" | "copied" | "failed">("copy");
  const timer = useRef<number>(undefined);
  useEffect(() => () => window.clearTimeout(timer.current), []);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setState("copied");
    } catch {
      setState("failed");
    }
    window.clearTimeout(timer.current);
    timer.current = window.setTimeout(() => setState("copy"), SHOWN_MS);
  };
  return { state, copy: () => void copy() };
}

/** Copies a text and confirms it. `what` names the text where "copy" alone would be ambiguous. */
export function CopyButton({ text, what }: CopyProps) {
  const messages = useMessages(MESSAGES);
  const { state, copy } = useCopy(text);
  return (
    <Button
      onClick={copy}
      icon={state === "copied" ? <Check aria-hidden /> : <Copy aria-hidden />}
      aria-label={what === undefined ? undefined : `${messages.copy}: ${what}`}
    >
      <span aria-live="polite">{messages[state]}</span>
    </Button>
  );
}

/** The same with an icon only, beside a text in a row. */
export function CopyIconButton({ text, what = text }: CopyProps) {
  const messages = useMessages(MESSAGES);
  const { state, copy } = useCopy(text);
  return (
    <button
      type="button"
      onClick={copy}
      title={messages[state]}
      aria-label={`${messages[state]}: ${what}`}
      className="inline-flex size-7 shrink-0 items-center justify-center rounded-md text-muted hover:bg-sunken hover:text-ink [&_svg]:size-3.5"
    >
      {state === "copied" ? <Check aria-hidden /> : <Copy aria-hidden />}
    </button>
  );
}

/** Code to copy. Long lines wrap, so that nothing is hidden; the copied text keeps them whole. */
export function CodeBlock({ code, what }: { readonly code: string; readonly what: string }) {
  return (
    <div className="flex min-w-0 flex-col rounded-lg border border-line bg-sunken sm:flex-row sm:items-start">
      <pre
        aria-label={what}
        className="min-w-0 flex-1 p-3 font-mono text-[0.8125rem] leading-relaxed wrap-anywhere whitespace-pre-wrap"
      >
        <code>{code}</code>
      </pre>
      <div className="self-end p-2 sm:self-start sm:pl-0">
        <CopyButton text={code} what={what} />
      </div>
    </div>
  );
}
