import { useMutation } from "@connectrpc/connect-query";
import { type FormEvent, useState } from "react";
import type { ApiKey } from "#gen/saldo/keys/v1/key_pb.ts";
import { KeysService } from "#gen/saldo/keys/v1/keys_service_pb.ts";
import { useWords } from "../../i18n/language.tsx";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { TextField } from "../../components/field.tsx";
import { useNotify } from "../../components/notices.tsx";
import { maskedKey } from "./key-columns.tsx";
import { KEYS_WORDS } from "./keys-words.ts";
import { useRefreshKeys } from "./refresh-keys.ts";

/** Revokes a key once its name was typed: it cannot be taken back. */
export function RevokeKeyDialog({ apiKey, onClose }: { readonly apiKey: ApiKey; readonly onClose: () => void }) {
  const words = useWords(KEYS_WORDS);
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
      notify(words.revokedNow, apiKey.name);
      onClose();
    } catch {
      notify(words.couldNotRevoke);
    }
  };
  return (
    <Dialog open onClose={onClose} title={words.revokeTitle} about={words.revokeAbout}>
      <form onSubmit={(event) => void revoke(event)} noValidate className="flex flex-col gap-4">
        <p className="font-mono text-[0.8125rem] text-muted">{maskedKey(apiKey)}</p>
        <TextField
          label={
            <>
              {words.typeName} <strong className="break-words select-all">{apiKey.name}</strong>
            </>
          }
          value={typed}
          onChange={({ target }) => setTyped(target.value)}
          autoComplete="off"
          spellCheck={false}
          // The dialog has nothing else to begin with.
          // oxlint-disable-next-line jsx-a11y/no-autofocus
          autoFocus
        />
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={onClose}>{words.cancel}</Button>
          <Button type="submit" look="danger" busy={isPending} disabled={!isMeant}>
            {words.revoke}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
