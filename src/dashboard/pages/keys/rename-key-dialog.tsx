import { useMutation } from "@connectrpc/connect-query";
import { type FormEvent, useState } from "react";
import type { ApiKey } from "#gen/saldo/keys/v1/key_pb.ts";
import { KeysService } from "#gen/saldo/keys/v1/keys_service_pb.ts";
import { useMessages } from "../../i18n/language.tsx";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { useNotify } from "../../components/notices.tsx";
import { maskedKey } from "./key-columns.tsx";
import { isKeyName, KeyNameField } from "./key-name-field.tsx";
import { KEYS_MESSAGES } from "./keys-messages.ts";
import { useRefreshKeys } from "./refresh-keys.ts";

/** A new name for a key. */
export function RenameKeyDialog({ apiKey, onClose }: { readonly apiKey: ApiKey; readonly onClose: () => void }) {
  const messages = useMessages(KEYS_MESSAGES);
  const notify = useNotify();
  const refresh = useRefreshKeys();
  const [name, setName] = useState(apiKey.name);
  const [isWrong, setWrong] = useState(false);
  const { mutateAsync, isPending } = useMutation(KeysService.method.updateKey);
  const save = async (event: FormEvent) => {
    event.preventDefault();
    setWrong(!isKeyName(name));
    if (!isKeyName(name)) return;
    try {
      await mutateAsync({ keyId: apiKey.id, name: name.trim() });
      await refresh();
      notify(messages.renamed);
      onClose();
    } catch {
      notify(messages.couldNotRename);
    }
  };
  return (
    <Dialog open onClose={onClose} title={messages.rename} about={maskedKey(apiKey)}>
      <form onSubmit={(event) => void save(event)} noValidate className="flex flex-col gap-4">
        <KeyNameField value={name} onChange={setName} isWrong={isWrong} />
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={onClose}>{messages.cancel}</Button>
          <Button type="submit" variant="action" busy={isPending}>
            {messages.save}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
