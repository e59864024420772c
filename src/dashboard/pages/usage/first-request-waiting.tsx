// The list of an account that never had a request: a command to run, and the wait for the first one.

import { useQuery } from "@connectrpc/connect-query";
import { LoaderCircle } from "lucide-react";
import { GatewayService } from "#gen/saldo/gateway/v1/gateway_service_pb.ts";
import { useMessages } from "../../i18n/language.tsx";
import { LinkButton } from "../../components/button.tsx";
import { Snippets } from "../../snippets/snippets.tsx";
import { isUsable, useAllKeys } from "../keys/all-keys.ts";
import { firstModelOf } from "../models/first-model.ts";
import { USAGE_MESSAGES } from "./usage-messages.ts";

/** The command, and the button for a key where there is none. */
export function FirstRequestWaiting() {
  const messages = useMessages(USAGE_MESSAGES);
  const keys = useAllKeys();
  const models = useQuery(GatewayService.method.listModels, {});
  const model = models.data === undefined ? undefined : firstModelOf(models.data.data);
  const hasKey = keys.data?.keys.some(isUsable) === true;
  return (
    <div className="mx-auto flex max-w-2xl flex-col gap-4 px-4 pt-2 pb-8">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <div role="status">
          <p className="flex items-center gap-2 text-base font-semibold">
            <LoaderCircle className="size-4 animate-spin text-muted" aria-hidden />
            {messages.waiting}
          </p>
          <p className="text-muted">{messages.waitingAbout}</p>
        </div>
        {keys.data === undefined || hasKey ? null : (
          <LinkButton to="/keys" search={{ create: true }} variant="action">
            {messages.makeKey}
          </LinkButton>
        )}
      </div>
      {model === undefined ? null : <Snippets model={model} />}
    </div>
  );
}
