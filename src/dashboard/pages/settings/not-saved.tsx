import { factsOf } from "../../api/transport.ts";
import { useMessages } from "../../i18n/language.tsx";
import { SETTINGS_MESSAGES } from "./settings-messages.ts";

/** The message of a failed save, with the request id for support. Nothing where there is no error. */
export function NotSaved({ error }: { readonly error: unknown }) {
  const messages = useMessages(SETTINGS_MESSAGES);
  if (error === null) return null;
  const requestId = factsOf(error)?.requestId ?? "";
  return (
    <p role="alert" className="rounded-lg bg-bad-soft px-3 py-2 text-bad">
      {messages.notSaved}
      {requestId === "" ? null : (
        <span className="block text-xs">
          {messages.requestId}: <code className="font-mono break-all">{requestId}</code>
        </span>
      )}
    </p>
  );
}
