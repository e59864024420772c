import { type FormEvent, useState } from "react";
import { addPasskey, canUsePasskeys, type FactorState, removePasskey } from "../../api/second-factor.ts";
import { useFormats } from "../../i18n/format.ts";
import { useMessages } from "../../i18n/language.tsx";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { TextField } from "../../components/field.tsx";
import { useNotify } from "../../components/notices.tsx";
import { ProofProblem, useProof } from "./proof-forms.tsx";
import { Factor, RemoveDialog } from "./factor-parts.tsx";
import { FACTOR_MESSAGES } from "./second-factor-messages.ts";

type PasskeysProps = { readonly passkeys: FactorState["passkeys"]; readonly onChanged: () => Promise<void> };

/** The passkeys of a person, adding one and removing one. */
export function Passkeys({ passkeys, onChanged }: PasskeysProps) {
  const messages = useMessages(FACTOR_MESSAGES);
  const formats = useFormats();
  const [isAdding, setAdding] = useState(false);
  const [removing, setRemoving] = useState<string | null>(null);
  const about = canUsePasskeys()
    ? passkeys.length === 0
      ? messages.passkeysNone
      : undefined
    : messages.passkeysNotHere;
  return (
    <>
      <Factor name={messages.passkeys} about={about}>
        <Button disabled={!canUsePasskeys()} onClick={() => setAdding(true)}>
          {messages.passkeyAdd}
        </Button>
      </Factor>
      {passkeys.length === 0 ? null : (
        <ul aria-label={messages.passkeys} className="flex flex-col gap-2">
          {passkeys.map(({ id, name, createdAt }) => (
            <li
              key={id}
              className="flex flex-wrap items-center justify-between gap-2 rounded-lg border border-line px-3 py-2"
            >
              <span className="min-w-0">
                <span className="block break-words">{name ?? messages.passkeyUnnamed}</span>
                <span className="text-xs text-muted">{messages.added(formats.date(new Date(createdAt)))}</span>
              </span>
              <Button
                aria-label={`${messages.remove}: ${name ?? messages.passkeyUnnamed}`}
                onClick={() => setRemoving(id)}
              >
                {messages.remove}
              </Button>
            </li>
          ))}
        </ul>
      )}
      <AddDialog open={isAdding} onClose={() => setAdding(false)} onAdded={onChanged} />
      <RemoveDialog
        open={removing !== null}
        title={messages.removePasskeyTitle}
        onClose={() => setRemoving(null)}
        onRemove={() => removePasskey(removing ?? "")}
        onRemoved={onChanged}
      />
    </>
  );
}

type AddProps = { readonly open: boolean; readonly onClose: () => void; readonly onAdded: () => Promise<void> };

function AddDialog({ open, onClose, onAdded }: AddProps) {
  const messages = useMessages(FACTOR_MESSAGES);
  const notify = useNotify();
  const [name, setName] = useState("");
  const { isBusy, error, run } = useProof(() => {
    setName("");
    notify(messages.passkeyAdded);
    onClose();
    void onAdded();
  });
  const send = (event: FormEvent) => {
    event.preventDefault();
    void run(() => addPasskey(name));
  };
  return (
    <Dialog open={open} onClose={onClose} title={messages.passkeyAdd} about={messages.passkeysNone}>
      <form onSubmit={send} className="flex flex-col gap-4">
        <TextField
          label={messages.passkeyName}
          hint={messages.passkeyNameHint}
          value={name}
          onChange={({ target }) => setName(target.value)}
          maxLength={100}
          required
        />
        <div aria-live="polite">{error === null ? null : <ProofProblem error={error} />}</div>
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={onClose}>{messages.cancel}</Button>
          <Button type="submit" variant="action" busy={isBusy}>
            {messages.passkeyAdd}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
