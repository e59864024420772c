// A top-up as it changes. The server streams each change; where streams do not get through, the state is polled, so
// that a payment is seen in either case.

import { createClient } from "@connectrpc/connect";
import { useQuery } from "@connectrpc/connect-query";
import { useEffect, useState } from "react";
import { BillingService } from "#gen/saldo/billing/v1/billing_service_pb.ts";
import type { TopUp } from "#gen/saldo/billing/v1/top_up_pb.ts";
import { isNotThere, transport } from "../../api/transport.ts";
import { useVisible } from "../../api/visible.ts";
import { type Answer, isAwaited, isSettled, laterOf } from "./top-up-stages.ts";

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 15_000;
/** After so many streams in a row without a message, the state is polled. */
const FAILURES_BEFORE_POLLING = 3;
const POLL_MS = 5_000;

const billing = createClient(BillingService, transport);

export type FollowedTopUp = {
  readonly topUp: TopUp | null;
  /** Why it is unknown; null while it may still arrive. */
  readonly error: unknown;
  readonly refetch: () => void;
};

/**
 * The top-up, as fresh as possible; `refetch` fetches it now. A component that follows another top-up starts over, by
 * its React key.
 */
export function useTopUp(topUpId: string): FollowedTopUp {
  const isVisible = useVisible();
  const [streamed, setStreamed] = useState<Answer | null>(null);
  const [failures, setFailures] = useState(0);
  const hasNoStream = failures >= FAILURES_BEFORE_POLLING;
  const latest = (asked: TopUp | undefined, atMs: number) =>
    laterOf(streamed, asked === undefined ? null : { topUp: asked, atMs });
  const asked = useQuery(
    BillingService.method.getTopUp,
    { topUpId },
    {
      refetchInterval: ({ state: { data, dataUpdatedAt, error } }) => {
        const known = latest(data?.topUp, dataUpdatedAt);
        const isOver = isNotThere(error) || (known !== null && !isAwaited(known.state));
        return hasNoStream && isVisible && !isOver ? POLL_MS : false;
      },
    },
  );
  const topUp = latest(asked.data?.topUp, asked.dataUpdatedAt);
  // A top-up that does not exist will not appear later. Where the stream works, it reports late payments, too.
  const isOver = isNotThere(asked.error) || (topUp !== null && isSettled(topUp.state));

  // A reader who returns to the page may have a better connection by now.
  useEffect(() => {
    if (isVisible) setFailures(0);
  }, [isVisible]);
  useEffect(() => {
    if (!isVisible || isOver || hasNoStream) return undefined;
    const leaving = new AbortController();
    const onChange = (change: TopUp) => setStreamed({ topUp: change, atMs: Date.now() });
    void follow(topUpId, leaving.signal, onChange, setFailures);
    return () => leaving.abort();
  }, [topUpId, isVisible, isOver, hasNoStream]);

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
      // A stream of changes has no time limit, unlike single calls.
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
