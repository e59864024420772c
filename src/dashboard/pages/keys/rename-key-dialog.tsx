import { useMutation } from "@connectrpc/connect-query";
import { type FormEvent, useState } from "react";
import type { ApiKey } from "#gen/saldo/keys/v1/key_pb.ts";
import { KeysService } from "#gen/saldo/keys/v1/keys_service_pb.ts";
import { useWords } from "../../i18n/language.tsx";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { useNotify } from "../../components/notices.tsx";
import { maskedKey } from "./key-columns.tsx";
import { isKeyName, KeyNameField } from "./key-name-field.tsx";
import { KEYS_WORDS } from "./keys-words.ts";
import { useRefreshKeys } from "./refresh-keys.ts";

/** A new name for a key. */
export function RenameKeyDialog({ apiKey, onClose }: { readonly apiKey: ApiKey; readonly onClose: () => void }) {
  const words = useWords(KEYS_WORDS);
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
      notify(words.renamed);
      onClose();
    } catch {
      notify(words.couldNotRename);
    }
  };
  return (
    <Dialog open onClose={onClose} title={words.rename} about={maskedKey(apiKey)}>
      <form onSubmit={(event) => void save(event)} noValidate className="flex flex-col gap-4">
        <KeyNameField value={name} onChange={setName} isWrong={isWrong} />
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={onClose}>{words.cancel}</Button>
          <Button type="submit" look="action" busy={isPending}>
            {words.save}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
