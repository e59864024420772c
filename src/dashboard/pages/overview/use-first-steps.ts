// The progress of a new account: a key, a first request, a balance. Known steps are not fetched again.

import { useQuery } from "@connectrpc/connect-query";
import { useEffect, useRef } from "react";
import { BillingService } from "#gen/saldo/billing/v1/billing_service_pb.ts";
import type { UsageRecord } from "#gen/saldo/billing/v1/usage_pb.ts";
import { useMessages } from "../../i18n/language.tsx";
import { useNotify } from "../../components/notices.tsx";
import { isAllowed, useActingFor } from "../../layouts/role.ts";
import { isSettled } from "../billing/top-up-stages.ts";
import { isUsable, useAllKeys } from "../keys/all-keys.ts";
import { ANSWERED } from "../usage/usage-search.ts";
import { OVERVIEW_MESSAGES } from "./overview-messages.ts";

const POLL_MS = 3_000;
const MOST_TOP_UPS = 20;

export type FirstSteps = {
  readonly hasKey: boolean;
  /** A request that was answered; null while there is none. */
  readonly firstRequest: UsageRecord | null;
  /** There is or was a balance. A welcome credit counts too. */
  readonly hasBalance: boolean;
  readonly isDone: boolean;
};

/**
 * The steps; null where they failed to load, "asking" while they load. Shows a notice when the first request arrives.
 */
export function useFirstSteps(): FirstSteps | "asking" | null {
  const keys = useAllKeys();
  const answered = useQuery(
    BillingService.method.listUsage,
    { filter: { bases: ANSWERED }, pageSize: 1 },
    // Not polled in a hidden tab, nor once there is one.
    { refetchInterval: ({ state }) => ((state.data?.records.length ?? 0) > 0 ? false : POLL_MS) },
  );
  const balance = useQuery(BillingService.method.getBalance, {});
  const isEmpty = balance.data?.balance?.available === "0";
  const role = useActingFor()?.role;
  // An account with a spent balance had one before: its top-ups show that, to those who may read them.
  const needsTopUps = isEmpty && isAllowed(role, "readMoney");
  const topUps = useQuery(
    BillingService.method.listTopUps,
    { pageSize: MOST_TOP_UPS },
    { enabled: needsTopUps && role !== undefined },
  );
  useNoticeOfArrival(answered.data?.records.length);
  const asked = [keys, answered, balance, ...(needsTopUps ? [topUps] : [])];
  if (keys.data === undefined || answered.data === undefined || asked.some(({ data }) => data === undefined)) {
    // Retries may take long: after the first failure the rest of the page is shown, and stays in place.
    const hasFailed = asked.some(
      ({ failureReason, errorUpdateCount }) => failureReason !== null || errorUpdateCount > 0,
    );
    return hasFailed ? null : "asking";
  }
  const hasKey = keys.data.keys.some(isUsable);
  const firstRequest = answered.data.records[0] ?? null;
  const hasBalance = !isEmpty || topUps.data?.topUps.some(({ state }) => isSettled(state)) === true;
  return { hasKey, firstRequest, hasBalance, isDone: hasKey && firstRequest !== null && hasBalance };
}

function useNoticeOfArrival(count: number | undefined): void {
  const messages = useMessages(OVERVIEW_MESSAGES);
  const notify = useNotify();
  const before = useRef(count);
  useEffect(() => {
    if (before.current === 0 && count === 1) notify(messages.requestDone);
    before.current = count;
  }, [count, notify, messages]);
}
