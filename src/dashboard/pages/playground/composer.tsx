import { Send, Square } from "lucide-react";
import type { KeyboardEvent } from "react";
import { useMessages } from "../../i18n/language.tsx";
import { Button } from "../../components/button.tsx";
import { TextArea } from "../../components/field.tsx";
import { PLAYGROUND_MESSAGES } from "./playground-messages.ts";

type ComposerProps = {
  readonly draft: string;
  readonly onDraft: (draft: string) => void;
  readonly onSend: () => void;
  /** Stops the running answer; null while there is none. */
  readonly onStop: (() => void) | null;
  /** Whether the settings allow sending. */
  readonly isReady: boolean;
};

/** The input for a message, with its buttons to send and stop. */
export function Composer({ draft, onDraft, onSend, onStop, isReady }: ComposerProps) {
  const messages = useMessages(PLAYGROUND_MESSAGES);
  const sendOnEnter = (event: KeyboardEvent) => {
    // An input method is still composing: its Enter chooses a word.
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    onSend();
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onSend();
      }}
      className="sticky bottom-0 -mx-4 -mb-4 flex items-end gap-3 rounded-b-xl border-t border-line bg-card p-4"
    >
      <TextArea
        label={messages.message}
        placeholder={messages.messageHint}
        rows={2}
        value={draft}
        onChange={({ target }) => onDraft(target.value)}
        onKeyDown={sendOnEnter}
        className="flex-1"
      />
      {onStop === null ? (
        <Button type="submit" variant="action" icon={<Send aria-hidden />} disabled={!isReady || draft.trim() === ""}>
          {messages.send}
        </Button>
      ) : (
        <Button variant="danger" icon={<Square aria-hidden />} onClick={onStop}>
          {messages.stop}
        </Button>
      )}
    </form>
  );
}
