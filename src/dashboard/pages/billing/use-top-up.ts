// A top-up as it changes. The server's stream tells each change; where streams do not get through, the state is asked for
// instead, so that a payment is seen in either case.

import { createClient } from "@connectrpc/connect";
import { useQuery } from "@connectrpc/connect-query";
import { useEffect, useState } from "react";
import { BillingService } from "#gen/saldo/billing/v1/billing_service_pb.ts";
import type { TopUp } from "#gen/saldo/billing/v1/top_up_pb.ts";
import { isNotThere, transport } from "../../api/transport.ts";
import { useVisible } from "../../api/visible.ts";
import { isSettled } from "./top-up-states.tsx";

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 15_000;
/** After so many streams in a row that said nothing, the state is asked for. */
const FAILURES_BEFORE_POLLING = 3;
const POLL_MS = 5_000;

const billing = createClient(BillingService, transport);

export type FollowedTopUp = {
  readonly topUp: TopUp | null;
  /** Why it is not known; null while it may still come. */
  readonly error: unknown;
  readonly refetch: () => void;
};

/** The top-up, as fresh as it can be had; `refetch` asks for it now. */
export function useTopUp(topUpId: string): FollowedTopUp {
  const isVisible = useVisible();
  const [streamed, setStreamed] = useState<TopUp | null>(null);
  const [failures, setFailures] = useState(0);
  const hasArrived = streamed !== null && isSettled(streamed.state);
  const isPolling = failures >= FAILURES_BEFORE_POLLING && !hasArrived;
  const asked = useQuery(
    BillingService.method.getTopUp,
    { topUpId },
    { refetchInterval: ({ state }) => (isPolling && isVisible && !isNotThere(state.error) ? POLL_MS : false) },
  );
  // What is not there does not come by waiting.
  const isOver = hasArrived || isNotThere(asked.error);

  useEffect(() => {
    if (!isVisible || isOver || isPolling) return undefined;
    const leaving = new AbortController();
    void follow(topUpId, leaving.signal, setStreamed, setFailures);
    return () => leaving.abort();
  }, [topUpId, isVisible, isOver, isPolling]);

  const topUp = newer(streamed, asked.data?.topUp ?? null);
  return { topUp, error: topUp === null ? asked.error : null, refetch: () => void asked.refetch() };
}

async function follow(
  topUpId: string,
  signal: AbortSignal,
  onChange: (topUp: TopUp) => void,
  onFailures: (count: number) => void,
): Promise<void> {
  for (let failures = 0; failures < FAILURES_BEFORE_POLLING && !signal.aborted;) {
    try {
      // A stream of changes lasts as long as it takes: the limit of single calls is not for it.
      for await (const { topUp } of billing.watchTopUp({ topUpId }, { signal, timeoutMs: 0 })) {
        failures = 0;
        if (topUp !== undefined) onChange(topUp);
        if (topUp !== undefined && isSettled(topUp.state)) return;
      }
    } catch {
      if (signal.aborted) return;
    }
    failures += 1;
    onFailures(failures);
    await pause(Math.min(FIRST_PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS), signal);
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** What has arrived does not go back to waiting, whichever answer came last. */
function newer(streamed: TopUp | null, asked: TopUp | null): TopUp | null {
  if (streamed === null || asked === null) return streamed ?? asked;
  return isSettled(asked.state) && !isSettled(streamed.state) ? asked : streamed;
}
