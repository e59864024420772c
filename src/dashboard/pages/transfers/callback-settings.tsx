// The address of a merchant's callbacks. A token and a secret that are made here are shown once.

import { timestampDate } from "@bufbuild/protobuf/wkt";
import { createConnectQueryKey, useMutation, useQuery } from "@connectrpc/connect-query";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import type { CallbackSettings } from "#gen/saldo/merchant/v1/callback_pb.ts";
import { CallbackService } from "#gen/saldo/merchant/v1/callback_service_pb.ts";
import { useFormats } from "../../i18n/format.ts";
import { useMessages } from "../../i18n/language.tsx";
import { Button } from "../../components/button.tsx";
import { Card } from "../../components/card.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { TextField } from "../../components/field.tsx";
import { useNotify } from "../../components/notices.tsx";
import { RenewSecretDialog } from "../../components/renew-secret.tsx";
import { Secret } from "../../components/secret.tsx";
import { Failed, SkeletonLines } from "../../components/states.tsx";
import { CALLBACK_MESSAGES } from "./callback-messages.ts";
import { useMerchantHere } from "./merchant-here.tsx";
import { Refused } from "../../components/refused.tsx";

type ShownOnce = { readonly token: string; readonly secret: string };

/** The settings and how to change them. */
export function CallbackSettingsCard() {
  const messages = useMessages(CALLBACK_MESSAGES);
  const { merchantId } = useMerchantHere();
  const [once, setOnce] = useState<ShownOnce | null>(null);
  const { data, error, refetch } = useQuery(CallbackService.method.getCallbackSettings, { merchantId });
  const settings = data?.settings;
  return (
    <Card title={messages.settings}>
      {error !== null && settings === undefined ? <Failed error={error} retry={() => void refetch()} /> : null}
      {settings === undefined && error === null ? <SkeletonLines /> : null}
      {settings === undefined ? null : <SettingsForm key={settings.url} settings={settings} onSecrets={setOnce} />}
      <OnceDialog once={once} onClose={() => setOnce(null)} />
    </Card>
  );
}

function SettingsForm({
  settings,
  onSecrets,
}: {
  readonly settings: CallbackSettings;
  readonly onSecrets: (once: ShownOnce) => void;
}) {
  const messages = useMessages(CALLBACK_MESSAGES);
  const { merchantId } = useMerchantHere();
  const [url, setUrl] = useState(settings.url);
  const [token, setToken] = useState("");
  const [isRenewing, setRenewing] = useState(false);
  const { mutate, error, isPending, reset } = useUpdate((once) => {
    setToken("");
    setRenewing(false);
    if (once.token !== "" || once.secret !== "") onSecrets(once);
  });
  const save = (event: FormEvent) => {
    event.preventDefault();
    mutate({ merchantId, url, token, renewSecret: false });
  };
  return (
    <form noValidate onSubmit={save} className="flex flex-col gap-4">
      <p className="max-w-prose text-muted">{messages.about}</p>
      {settings.stoppedAt === undefined ? null : (
        <p role="status" className="rounded-lg bg-warn-soft p-3 text-warn">
          <strong className="font-semibold">{messages.stopped}.</strong> {messages.stoppedAbout}
        </p>
      )}
      <TextField
        label={messages.url}
        hint={messages.urlHint}
        type="url"
        inputMode="url"
        autoComplete="off"
        maxLength={2048}
        value={url}
        onChange={({ target }) => setUrl(target.value.trim())}
      />
      <TextField
        label={messages.token}
        hint={messages.tokenHint}
        autoComplete="off"
        spellCheck={false}
        maxLength={200}
        value={token}
        onChange={({ target }) => setToken(target.value)}
      />
      <Endings settings={settings} />
      {error === null || isRenewing ? null : <Refused error={error} />}
      <div className="flex flex-wrap gap-2">
        <Button type="submit" variant="action" busy={isPending && !isRenewing}>
          {messages.save}
        </Button>
        {settings.secretLastFour === "" ? null : (
          <Button
            onClick={() => {
              reset();
              setRenewing(true);
            }}
          >
            {messages.renew}
          </Button>
        )}
      </div>
      <RenewSecretDialog
        messages={messages}
        open={isRenewing}
        onClose={() => setRenewing(false)}
        // An address that is typed but not saved stays.
        onRenew={() => mutate({ merchantId, url: settings.url, token: "", renewSecret: true })}
        busy={isPending}
        refusal={error === null ? null : <Refused error={error} />}
      />
    </form>
  );
}

function useUpdate(onSaved: (once: ShownOnce) => void) {
  const messages = useMessages(CALLBACK_MESSAGES);
  const notify = useNotify();
  const queries = useQueryClient();
  return useMutation(CallbackService.method.updateCallbackSettings, {
    // The secrets are kept only in the dialog that shows them.
    gcTime: 0,
    onSuccess: ({ token, secret }) => {
      notify(messages.saved);
      onSaved({ token, secret });
      void queries.invalidateQueries({
        queryKey: createConnectQueryKey({ schema: CallbackService.method.getCallbackSettings, cardinality: "finite" }),
      });
    },
  });
}

function Endings({ settings }: { readonly settings: CallbackSettings }) {
  const messages = useMessages(CALLBACK_MESSAGES);
  const formats = useFormats();
  const ending = (text: string) =>
    text === "" ? messages.never : <code className="font-mono text-[0.8125rem]">…{text}</code>;
  return (
    <dl className="flex flex-wrap gap-x-8 gap-y-2 text-[0.8125rem] [&_dt]:text-muted">
      <div>
        <dt>{messages.tokenNow}</dt>
        <dd>{ending(settings.tokenLastFour)}</dd>
      </div>
      <div>
        <dt>{messages.secretNow}</dt>
        <dd>{ending(settings.secretLastFour)}</dd>
      </div>
      {settings.updatedAt === undefined ? null : (
        <div>
          <dt>{messages.changed}</dt>
          <dd>{formats.time(timestampDate(settings.updatedAt))}</dd>
        </div>
      )}
    </dl>
  );
}

function OnceDialog({ once, onClose }: { readonly once: ShownOnce | null; readonly onClose: () => void }) {
  const messages = useMessages(CALLBACK_MESSAGES);
  return (
    <Dialog kept open={once !== null} onClose={onClose} title={messages.onceTitle} about={messages.onceAbout}>
      {once === null || once.token === "" ? null : <Secret name={messages.token} text={once.token} />}
      {once === null || once.secret === "" ? null : <Secret name={messages.secret} text={once.secret} />}
      <Button variant="action" onClick={onClose} className="self-end">
        {messages.kept}
      </Button>
    </Dialog>
  );
}
