import { useMutation } from "@connectrpc/connect-query";
import { type FormEvent, useState } from "react";
import type { ApiKey } from "#gen/saldo/keys/v1/key_pb.ts";
import { KeysService } from "#gen/saldo/keys/v1/keys_service_pb.ts";
import { useMessages } from "../../i18n/language.tsx";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { TextField } from "../../components/field.tsx";
import { useNotify } from "../../components/notices.tsx";
import { maskedKey } from "./key-columns.tsx";
import { KEYS_MESSAGES } from "./keys-messages.ts";
import { useRefreshKeys } from "./refresh-keys.ts";

/** Revokes a key after its name was typed: revoking cannot be undone. */
export function RevokeKeyDialog({ apiKey, onClose }: { readonly apiKey: ApiKey; readonly onClose: () => void }) {
  const messages = useMessages(KEYS_MESSAGES);
  const notify = useNotify();
  const refresh = useRefreshKeys();
  const [typed, setTyped] = useState("");
  const { mutateAsync, isPending } = useMutation(KeysService.method.revokeKey);
  const isMeant = typed.trim() === apiKey.name.trim();
  const revoke = async (event: FormEvent) => {
    event.preventDefault();
    if (!isMeant) return;
    try {
      await mutateAsync({ keyId: apiKey.id });
      await refresh();
      notify(messages.revokedNow, apiKey.name);
      onClose();
    } catch {
      notify(messages.couldNotRevoke);
    }
  };
  return (
    <Dialog open onClose={onClose} title={messages.revokeTitle} about={messages.revokeAbout}>
      <form onSubmit={(event) => void revoke(event)} noValidate className="flex flex-col gap-4">
        <p className="font-mono text-[0.8125rem] text-muted">{maskedKey(apiKey)}</p>
        <TextField
          label={
            <>
              {messages.typeName} <strong className="break-words select-all">{apiKey.name}</strong>
            </>
          }
          value={typed}
          onChange={({ target }) => setTyped(target.value)}
          autoComplete="off"
          spellCheck={false}
          // The dialog has no other first field.
          // oxlint-disable-next-line jsx-a11y/no-autofocus
          autoFocus
        />
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={onClose}>{messages.cancel}</Button>
          <Button type="submit" variant="danger" busy={isPending} disabled={!isMeant}>
            {messages.revoke}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
