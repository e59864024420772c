// Waits for the first request of a new key, and says when it has arrived.

import { useQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import { CircleCheck, LoaderCircle } from "lucide-react";
import { BillingService } from "#gen/saldo/billing/v1/billing_service_pb.ts";
import { type UsageRecord, UsageBasis } from "#gen/saldo/billing/v1/usage_pb.ts";
import { useWords } from "../../language/language.tsx";
import { KEYS_WORDS } from "./keys-words.ts";

const POLL_MS = 2_500;
const LOOKED_AT = 5;

/** A line that turns from waiting to done by itself, as long as somebody looks. */
export function FirstRequest({ keyId }: { readonly keyId: string }) {
  const words = useWords(KEYS_WORDS);
  const { data } = useQuery(
    BillingService.method.listUsage,
    { filter: { keyId }, pageSize: LOOKED_AT },
    {
      // Not asked while the tab is behind: the query waits with the page.
      refetchInterval: ({ state }) => (answeredOf(state.data?.records) === undefined ? POLL_MS : false),
      staleTime: 0,
    },
  );
  const answered = answeredOf(data?.records);
  const failed = data?.records[0];
  return (
    <div role="status" className={answered === undefined ? "text-muted" : "font-medium text-good"}>
      {answered === undefined ? (
        <>
          <p className="flex items-center gap-2 font-medium">
            <LoaderCircle className="size-4 animate-spin" aria-hidden />
            {words.waiting}
          </p>
          <p className="mt-0.5">
            {failed === undefined ? words.waitingAbout : words.failedOnce}{" "}
            {failed === undefined ? null : <RecordLink record={failed} />}
          </p>
        </>
      ) : (
        <p className="flex flex-wrap items-center gap-2">
          <CircleCheck className="size-4" aria-hidden />
          {words.first}
          <RecordLink record={answered} />
        </p>
      )}
    </div>
  );
}

function RecordLink({ record }: { readonly record: UsageRecord }) {
  const words = useWords(KEYS_WORDS);
  return (
    <Link
      to="/usage"
      search={{ key: record.keyId, tab: "requests", request: record.requestId }}
      className="font-medium underline underline-offset-2"
    >
      {words.firstLink}
    </Link>
  );
}

function answeredOf(records: readonly UsageRecord[] | undefined): UsageRecord | undefined {
  return records?.find(({ basis }) => basis !== UsageBasis.FREE);
}
