// Shown where there are no requests: for a new account a command to run, and the wait for it; else what to try instead.

import { useQuery } from "@connectrpc/connect-query";
import { Suspense } from "react";
import { BillingService } from "#gen/saldo/billing/v1/billing_service_pb.ts";
import { useMessages } from "../../i18n/language.tsx";
import { lazyPage } from "../../layouts/lazy-page.ts";
import { Button } from "../../components/button.tsx";
import { Empty, SkeletonLines } from "../../components/states.tsx";
import { useChangeSearch } from "./change-search.ts";
import { isFiltered, PRESETS, type UsageSearch } from "./usage-search.ts";
import { USAGE_MESSAGES } from "./usage-messages.ts";

const FirstRequestWaiting = lazyPage(() => import("./first-request-waiting.tsx"), "FirstRequestWaiting");

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
  if (data?.records.length !== 0) return <NothingHere search={search} />;
  return (
    <Suspense fallback={<SkeletonLines />}>
      <FirstRequestWaiting />
    </Suspense>
  );
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
