// Making a key: its name, then the key itself, shown once, with everything for a first request.

import { useMutation, useQuery } from "@connectrpc/connect-query";
import { type FormEvent, useState } from "react";
import { GatewayService } from "#gen/saldo/gateway/v1/gateway_service_pb.ts";
import type { CreateKeyResponse } from "#gen/saldo/keys/v1/keys_service_pb.ts";
import { KeysService } from "#gen/saldo/keys/v1/keys_service_pb.ts";
import { factsOf } from "../../api/transport.ts";
import { useMessages } from "../../i18n/language.tsx";
import { useToday } from "../../i18n/today.ts";
import { Button, LinkButton } from "../../components/button.tsx";
import { CopyButton } from "../../components/copy.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { SelectField } from "../../components/field.tsx";
import { useNotify } from "../../components/notices.tsx";
import { Failed, SkeletonLines } from "../../components/states.tsx";
import { Snippets } from "../../snippets/snippets.tsx";
import { chatModelsOf, firstModelOf } from "../models/first-model.ts";
import { FirstRequest, useFirstRequest } from "./first-request.tsx";
import { isKeyName, KeyNameField } from "./key-name-field.tsx";
import { isAllowed, limitsOf, NEW_KEY_BOUND, NO_LIMITS, problemsOf, rateOf } from "./key-limits.ts";
import { KEYS_MESSAGES } from "./keys-messages.ts";
import { LimitFieldset } from "./limit-fields.tsx";
import { useRefreshKeys } from "./refresh-keys.ts";

/** Asks for a name, then shows the key once. */
export function CreateKeyDialog({ onClose }: { readonly onClose: () => void }) {
  const [made, setMade] = useState<CreateKeyResponse | null>(null);
  return made === null ? <NameStep onClose={onClose} onMade={setMade} /> : <SecretStep made={made} onClose={onClose} />;
}

function NameStep({
  onClose,
  onMade,
}: {
  readonly onClose: () => void;
  readonly onMade: (made: CreateKeyResponse) => void;
}) {
  const messages = useMessages(KEYS_MESSAGES);
  const notify = useNotify();
  const refresh = useRefreshKeys();
  const [name, setName] = useState("");
  const [fields, setFields] = useState(NO_LIMITS);
  const [isTried, setTried] = useState(false);
  const today = useToday();
  const bound = NEW_KEY_BOUND;
  const { mutateAsync, isPending } = useMutation(KeysService.method.createKey, {
    // The secret is kept only in the dialog that shows it.
    gcTime: 0,
  });
  const create = async (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (!isKeyName(name) || problemsOf(fields, { today, bound }).length > 0 || isPending) return;
    try {
      onMade(await mutateAsync({ name: name.trim(), limits: limitsOf(fields), rateLimit: rateOf(fields, bound) }));
      await refresh();
    } catch (error) {
      const facts = factsOf(error);
      notify(messages.couldNotCreate, facts?.code === "limit_exceeded" ? messages.tooMany : facts?.requestId);
    }
  };
  return (
    <Dialog open kept={isPending} onClose={onClose} title={messages.create} about={messages.createAbout}>
      <form onSubmit={(event) => void create(event)} noValidate className="flex flex-col gap-4">
        <KeyNameField value={name} onChange={setName} isWrong={isTried && !isKeyName(name)} />
        <LimitFieldset value={fields} bound={bound} onChange={setFields} isTried={isTried} />
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={onClose} disabled={isPending}>
            {messages.cancel}
          </Button>
          <Button type="submit" variant="action" busy={isPending}>
            {messages.create}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function SecretStep({ made, onClose }: { readonly made: CreateKeyResponse; readonly onClose: () => void }) {
  const messages = useMessages(KEYS_MESSAGES);
  const refresh = useRefreshKeys();
  const first = useFirstRequest(made.key?.id ?? "");
  const record = first.answered ?? first.failed;
  const close = () => {
    void refresh(); // it may have been used by now
    onClose();
  };
  return (
    <Dialog open kept wide onClose={close} title={messages.made} about={messages.madeAbout}>
      <div className="flex flex-wrap items-center gap-2 rounded-lg border border-line bg-sunken p-3">
        <code aria-label={messages.secret} className="min-w-0 flex-1 basis-64 font-mono break-all" data-testid="secret">
          {made.secret}
        </code>
        <CopyButton text={made.secret} what={messages.secret} />
      </div>
      <FirstRequest {...first} />
      <TryIt secret={made.secret} allowed={made.key?.limits?.allowedModels ?? []} />
      <div className="sticky -bottom-5 -mx-5 -mb-5 flex flex-wrap justify-end gap-2 border-t border-line bg-card px-5 py-3">
        {/* The link leaves the page that shows the secret, so it confirms the copy as the button does. */}
        {record === undefined ? null : (
          <LinkButton
            to="/usage"
            search={{ key: record.keyId, tab: "requests", request: record.requestId }}
            className="max-sm:whitespace-normal"
          >
            {messages.copiedToUsage}
          </LinkButton>
        )}
        <Button variant="action" onClick={close}>
          {messages.copied}
        </Button>
      </div>
    </Dialog>
  );
}

function TryIt({ secret, allowed }: { readonly secret: string; readonly allowed: readonly string[] }) {
  const messages = useMessages(KEYS_MESSAGES);
  const [modelId, setModelId] = useState<string | null>(null);
  const { data, error, refetch } = useQuery(GatewayService.method.listModels, {});
  if (data === undefined)
    return error === null ? <SkeletonLines /> : <Failed error={error} retry={() => void refetch()} />;
  const chatModels = chatModelsOf(data.data).filter(({ id }) => isAllowed(allowed, id));
  const model = chatModels.find(({ id }) => id === modelId) ?? firstModelOf(chatModels);
  if (model === undefined) return null;
  return (
    <section aria-label={messages.tryIt} className="min-w-0">
      <Snippets
        model={model}
        secret={secret}
        beside={
          <SelectField label={messages.model} value={model.id} onChange={({ target }) => setModelId(target.value)}>
            {chatModels.map(({ id }) => (
              <option key={id}>{id}</option>
            ))}
          </SelectField>
        }
      />
    </section>
  );
}
