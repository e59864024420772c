// The address that alerts are posted to. A secret that is made here is shown once.

import { timestampDate } from "@bufbuild/protobuf/wkt";
import { createConnectQueryKey, useMutation } from "@connectrpc/connect-query";
import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import type { AlertWebhook } from "#gen/saldo/billing/v1/alert_pb.ts";
import { AlertService } from "#gen/saldo/billing/v1/alert_service_pb.ts";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { TextField } from "../../components/field.tsx";
import { useNotify } from "../../components/notices.tsx";
import { RenewSecretDialog } from "../../components/renew-secret.tsx";
import { Secret } from "../../components/secret.tsx";
import { useFormats } from "../../i18n/format.ts";
import { useMessages } from "../../i18n/language.tsx";
import { useMay } from "../../layouts/role.ts";
import { Refused } from "../../components/refused.tsx";
import { ALERTS_MESSAGES } from "./alerts-messages.ts";

/** The webhook and how to change it. */
export function WebhookCard({ webhook }: { readonly webhook: AlertWebhook }) {
  const messages = useMessages(ALERTS_MESSAGES);
  const mayChange = useMay("change");
  const [secret, setSecret] = useState("");
  return (
    <div className="flex flex-col gap-4">
      <p className="text-muted">{messages.webhookAbout}</p>
      {webhook.stoppedAt === undefined ? null : (
        <p role="status" className="rounded-lg bg-warn-soft p-3 text-warn">
          <strong className="font-semibold">{messages.stopped}.</strong> {messages.stoppedAbout}
        </p>
      )}
      {mayChange ? (
        <WebhookForm key={webhook.url} webhook={webhook} onSecret={setSecret} />
      ) : (
        <>
          <p className="font-mono text-xs break-all">{webhook.url === "" ? messages.off : webhook.url}</p>
          <p className="text-xs text-muted">{messages.readOnly}</p>
        </>
      )}
      <Link to="/docs/$page" params={{ page: "alerts" }} className="self-start underline underline-offset-2">
        {messages.howTo}
      </Link>
      <Dialog
        kept
        open={secret !== ""}
        onClose={() => setSecret("")}
        title={messages.onceTitle}
        about={messages.onceAbout}
      >
        {secret === "" ? null : <Secret name={messages.secret} text={secret} />}
        <Button variant="action" onClick={() => setSecret("")} className="self-end">
          {messages.kept}
        </Button>
      </Dialog>
    </div>
  );
}

function WebhookForm({
  webhook,
  onSecret,
}: {
  readonly webhook: AlertWebhook;
  readonly onSecret: (secret: string) => void;
}) {
  const messages = useMessages(ALERTS_MESSAGES);
  const [url, setUrl] = useState(webhook.url);
  const [isRenewing, setRenewing] = useState(false);
  const { mutate, error, isPending, reset } = useUpdate((secret) => {
    setRenewing(false);
    if (secret !== "") onSecret(secret);
  });
  const save = (event: FormEvent) => {
    event.preventDefault();
    mutate({ url, renewSecret: false });
  };
  return (
    <form noValidate onSubmit={save} className="flex flex-col gap-4">
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
      <SecretNow webhook={webhook} />
      {error === null || isRenewing ? null : <Refused error={error} />}
      <div className="flex flex-wrap gap-2">
        <Button type="submit" variant="action" busy={isPending && !isRenewing}>
          {messages.saveUrl}
        </Button>
        {webhook.secretLastFour === "" ? null : (
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
        onRenew={() => mutate({ url: webhook.url, renewSecret: true })}
        busy={isPending}
        refusal={error === null ? null : <Refused error={error} />}
      />
    </form>
  );
}

function SecretNow({ webhook }: { readonly webhook: AlertWebhook }) {
  const messages = useMessages(ALERTS_MESSAGES);
  const formats = useFormats();
  return (
    <p className="text-[0.8125rem] text-muted">
      {messages.secretNow}:{" "}
      {webhook.secretLastFour === "" ? messages.never : <code className="font-mono">…{webhook.secretLastFour}</code>}
      {webhook.updatedAt === undefined ? null : ` · ${formats.time(timestampDate(webhook.updatedAt))}`}
    </p>
  );
}

function useUpdate(onSaved: (secret: string) => void) {
  const messages = useMessages(ALERTS_MESSAGES);
  const notify = useNotify();
  const queries = useQueryClient();
  return useMutation(AlertService.method.updateAlertWebhook, {
    // The secret is kept only in the dialog that shows it.
    gcTime: 0,
    onSuccess: ({ secret }) => {
      notify(messages.savedUrl);
      onSaved(secret);
      void queries.invalidateQueries({
        queryKey: createConnectQueryKey({ schema: AlertService.method.getAlertSettings, cardinality: "finite" }),
      });
    },
  });
}
