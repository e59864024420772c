import { useMutation } from "@connectrpc/connect-query";
import { type FormEvent, useState } from "react";
import type { ApiKey } from "#gen/saldo/keys/v1/key_pb.ts";
import { KeysService } from "#gen/saldo/keys/v1/keys_service_pb.ts";
import { factsOf } from "../../api/transport.ts";
import { useMessages } from "../../i18n/language.tsx";
import { useToday } from "../../i18n/today.ts";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { useNotify } from "../../components/notices.tsx";
import { useMay } from "../../layouts/role.ts";
import { maskedKey } from "./key-columns.tsx";
import { isKeyName, KeyNameField } from "./key-name-field.tsx";
import { fieldsOf, limitsOf, problemsOf, rateOf } from "./key-limits.ts";
import { KEYS_MESSAGES } from "./keys-messages.ts";
import { LimitFieldset } from "./limit-fields.tsx";
import { useRefreshKeys } from "./refresh-keys.ts";

/** A new name and new limits for a key. */
export function EditKeyDialog({ apiKey, onClose }: { readonly apiKey: ApiKey; readonly onClose: () => void }) {
  const messages = useMessages(KEYS_MESSAGES);
  const notify = useNotify();
  const refresh = useRefreshKeys();
  const [name, setName] = useState(apiKey.name);
  const [present] = useState(() => fieldsOf(apiKey));
  const [fields, setFields] = useState(present);
  const [isTried, setTried] = useState(false);
  const today = useToday();
  const maySetLimits = useMay("change");
  const bound = apiKey.rateLimitBound;
  const { mutateAsync, isPending } = useMutation(KeysService.method.updateKey);
  const save = async (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    // A key that has ended keeps its end where only its name is changed.
    const isLimited = JSON.stringify(fields) !== JSON.stringify(present);
    if (!isKeyName(name) || (isLimited && problemsOf(fields, { today, present, bound }).length > 0)) return;
    try {
      const limits = isLimited ? { limits: limitsOf(fields, apiKey.limits) } : {};
      const rate = fields.rate === present.rate ? {} : { rateLimit: rateOf(fields, bound) };
      await mutateAsync({ keyId: apiKey.id, name: name.trim(), ...limits, ...rate });
      await refresh();
      notify(messages.edited);
      onClose();
    } catch (error) {
      notify(messages.couldNotEdit, factsOf(error)?.code === "limit_exceeded" ? messages.tooMany : undefined);
    }
  };
  return (
    <Dialog open onClose={onClose} title={messages.edit} about={maskedKey(apiKey)}>
      <form onSubmit={(event) => void save(event)} noValidate className="flex flex-col gap-4">
        <KeyNameField value={name} onChange={setName} isWrong={isTried && !isKeyName(name)} />
        {/* A developer renames a key; its limits are for owners and admins. */}
        {maySetLimits ? (
          <LimitFieldset value={fields} present={present} bound={bound} onChange={setFields} isTried={isTried} />
        ) : null}
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
