// Shown where there are no requests: for a new account a command to run, and the wait for it; else what to try instead.

import { useQuery } from "@connectrpc/connect-query";
import { LoaderCircle } from "lucide-react";
import { BillingService } from "#gen/saldo/billing/v1/billing_service_pb.ts";
import { GatewayService } from "#gen/saldo/gateway/v1/gateway_service_pb.ts";
import { useMessages } from "../../i18n/language.tsx";
import { Button, LinkButton } from "../../components/button.tsx";
import { Empty, SkeletonLines } from "../../components/states.tsx";
import { Snippets } from "../../snippets/snippets.tsx";
import { isUsable, useAllKeys } from "../keys/all-keys.ts";
import { firstModelOf } from "../models/first-model.ts";
import { useChangeSearch } from "./change-search.ts";
import { isFiltered, PRESETS, type UsageSearch } from "./usage-search.ts";
import { USAGE_MESSAGES } from "./usage-messages.ts";

/** How often an empty page checks for the first request. A hidden tab does not. */
export const WAITING_MS = 4_000;

/** Shown for a filter without results. */
export function UsageNothing({ search }: { readonly search: UsageSearch }) {
  const { data, error } = useQuery(
    BillingService.method.listUsage,
    { pageSize: 1 },
    { refetchInterval: ({ state }) => (state.data?.records.length === 0 ? WAITING_MS : false) },
  );
  if (data === undefined && error === null) return <SkeletonLines />;
  return data?.records.length === 0 ? <FirstRequest /> : <NothingHere search={search} />;
}

function NothingHere({ search }: { readonly search: UsageSearch }) {
  const messages = useMessages(USAGE_MESSAGES);
  const change = useChangeSearch();
  const [, , longest] = PRESETS;
  const action = isFiltered(search) ? (
    <Button onClick={() => change({ model: undefined, key: undefined, member: undefined, status: undefined })}>
      {messages.clear}
    </Button>
  ) : search.days === longest ? undefined : (
    <Button onClick={() => change({ days: longest, from: undefined, to: undefined })}>
      {longest} {messages.days}
    </Button>
  );
  return (
    <Empty title={messages.nothing} action={action}>
      {messages.nothingAbout}
    </Empty>
  );
}

function FirstRequest() {
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
