// Waits for the first request of a new key, and shows when it has arrived.

import { useQuery } from "@connectrpc/connect-query";
import { CircleCheck, LoaderCircle } from "lucide-react";
import { BillingService } from "#gen/saldo/billing/v1/billing_service_pb.ts";
import { type UsageRecord, UsageBasis } from "#gen/saldo/billing/v1/usage_pb.ts";
import { useMessages } from "../../i18n/language.tsx";
import { KEYS_MESSAGES } from "./keys-messages.ts";

const POLL_MS = 2_500;
const LOOKED_AT = 5;

/** The first use of a key. */
export type FirstUse = {
  /** A request that was answered. Undefined: there is none yet. */
  readonly answered: UsageRecord | undefined;
  /** The last request, where none was answered. */
  readonly failed: UsageRecord | undefined;
};

/** Polls until a request was answered, while the page is visible. */
export function useFirstRequest(keyId: string): FirstUse {
  const { data } = useQuery(
    BillingService.method.listUsage,
    { filter: { keyId }, pageSize: LOOKED_AT },
    {
      // Not polled in a hidden tab: the query pauses with the page.
      refetchInterval: ({ state }) => (answeredOf(state.data?.records) === undefined ? POLL_MS : false),
      staleTime: 0,
    },
  );
  const answered = answeredOf(data?.records);
  return { answered, failed: answered === undefined ? data?.records[0] : undefined };
}

/** A line that changes from waiting to done by itself. */
export function FirstRequest({ answered, failed }: FirstUse) {
  const messages = useMessages(KEYS_MESSAGES);
  return (
    <div role="status" className={answered === undefined ? "text-muted" : "font-medium text-good"}>
      {answered === undefined ? (
        <>
          <p className="flex items-center gap-2 font-medium">
            <LoaderCircle className="size-4 animate-spin" aria-hidden />
            {messages.waiting}
          </p>
          <p className="mt-0.5">{failed === undefined ? messages.waitingAbout : messages.failedOnce}</p>
        </>
      ) : (
        <p className="flex items-center gap-2">
          <CircleCheck className="size-4" aria-hidden />
          {messages.first}
        </p>
      )}
    </div>
  );
}

function answeredOf(records: readonly UsageRecord[] | undefined): UsageRecord | undefined {
  return records?.find(({ basis }) => basis !== UsageBasis.FREE);
}
