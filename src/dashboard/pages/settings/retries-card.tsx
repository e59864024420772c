// The answer to a retry of a request that was already answered.

import { createConnectQueryKey, useMutation, useQuery } from "@connectrpc/connect-query";
import { useQueryClient } from "@tanstack/react-query";
import { KeysService } from "#gen/saldo/keys/v1/keys_service_pb.ts";
import { useMessages } from "../../i18n/language.tsx";
import { Badge } from "../../components/badge.tsx";
import { Button } from "../../components/button.tsx";
import { Card } from "../../components/card.tsx";
import { useNotify } from "../../components/notices.tsx";
import { Failed, SkeletonLines } from "../../components/states.tsx";
import { NotSaved } from "./not-saved.tsx";
import { SETTINGS_MESSAGES } from "./settings-messages.ts";

/** Whether answers are kept for retries, and the button that changes it. */
export function RetriesCard() {
  const messages = useMessages(SETTINGS_MESSAGES);
  const { data, error, refetch } = useQuery(KeysService.method.getRetrySettings, {});
  const settings = data?.settings;
  return (
    <Card title={messages.retries} aside={settings === undefined ? null : <KeptBadge isOn={settings.keepAnswers} />}>
      <p className="pb-3 text-muted">{messages.retriesAbout}</p>
      {error !== null && settings === undefined ? <Failed error={error} retry={() => void refetch()} /> : null}
      {settings === undefined && error === null ? <SkeletonLines lines={2} /> : null}
      {settings === undefined ? null : <KeepAnswers isOn={settings.keepAnswers} />}
    </Card>
  );
}

function KeptBadge({ isOn }: { readonly isOn: boolean }) {
  const messages = useMessages(SETTINGS_MESSAGES);
  return isOn ? <Badge tone="good">{messages.retriesOn}</Badge> : <Badge>{messages.retriesOff}</Badge>;
}

function KeepAnswers({ isOn }: { readonly isOn: boolean }) {
  const messages = useMessages(SETTINGS_MESSAGES);
  const notify = useNotify();
  const queries = useQueryClient();
  const { mutate, error, isPending } = useMutation(KeysService.method.setRetrySettings, {
    onSuccess: () => {
      notify(messages.saved);
      void queries.invalidateQueries({
        queryKey: createConnectQueryKey({ schema: KeysService.method.getRetrySettings, cardinality: "finite" }),
      });
    },
  });
  return (
    <div className="flex flex-col gap-4">
      <NotSaved error={error} />
      <Button busy={isPending} className="self-start" onClick={() => mutate({ settings: { keepAnswers: !isOn } })}>
        {isOn ? messages.retriesStop : messages.retriesStart}
      </Button>
    </div>
  );
}
