// The wrapper around the gateway in every process: the switch that stops admissions, the count of running requests, and how
// requests end, for the metrics. A request pays for it with a few additions.

import { setTimeout as sleep } from "node:timers/promises";
import { Histogram } from "prom-client";
import type { ChatCall, ChatOutcome, ChatSink, Gateway } from "../../gateway/chat.ts";
import { DomainError, ServiceBusy } from "../../kernel/errors.ts";

/** The error for callers while admissions are stopped. */
const STOPPED_RETRY_AFTER_SECONDS = 30;
/** Few: each costs a series, and every request looks for its own. */
const DURATION_BOUNDS_SECONDS = [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100];

export type ChatRequests = {
  readonly gateway: Gateway;
  /** How many requests ended with each outcome: by the gateway's outcome, `stopped` by the switch, or the code of the error. */
  readonly outcomes: ReadonlyMap<string, number>;
  /** How long they took from the first byte of the request on. */
  readonly durations: Histogram;
  /** Waits for the requests being answered, also those whose client has left: they still have to be settled. */
  idle(limitMs: number): Promise<void>;
};

/** Puts a gateway behind the switch and counts its requests. `withExemplars`: durations name the traces of sampled requests. */
export function watchRequests(
  gateway: Gateway,
  { isStopped, withExemplars }: { readonly isStopped: () => boolean; readonly withExemplars: boolean },
): ChatRequests {
  let running = 0;
  /** The callbacks of code that waits until none is running. */
  let allEnded: PromiseWithResolvers<void> | null = null;
  const outcomes = new Map<string, number>();
  const durations = new Histogram({
    name: "saldo_chat_duration_seconds",
    help: "How long model requests took, from the first byte of the request to the end of the answer",
    buckets: DURATION_BOUNDS_SECONDS,
    registers: [],
    enableExemplars: withExemplars,
  });
  const ended = (outcome: string, { receivedAtMs, span }: Pick<ChatCall, "receivedAtMs" | "span">): void => {
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    const value = Math.max(0, Date.now() - receivedAtMs) / 1_000;
    if (!withExemplars) durations.observe(value);
    else if (span) durations.observe({ value, exemplarLabels: { trace_id: traceIdIn(span.traceparent) } });
    else durations.observe({ value });
  };
  const counted = async (call: ChatCall, sink: ChatSink): Promise<ChatOutcome> => {
    running += 1;
    try {
      const outcome = await gateway.answerChat(call, sink);
      ended(outcome, call);
      return outcome;
    } catch (error) {
      ended(error instanceof DomainError ? error.recordedCode : "internal_error", call);
      throw error;
    } finally {
      running -= 1;
      if (running === 0) {
        allEnded?.resolve();
        allEnded = null;
      }
    }
  };
  return {
    gateway: {
      ...gateway,
      answerChat(call, sink) {
        if (!isStopped()) return counted(call, sink);
        ended("stopped", call);
        return Promise.reject(new ServiceBusy(STOPPED_RETRY_AFTER_SECONDS));
      },
    },
    outcomes,
    durations,
    async idle(limitMs) {
      if (running === 0) return;
      allEnded ??= Promise.withResolvers();
      await Promise.race([allEnded.promise, sleep(limitMs, undefined, { ref: false })]);
    },
  };
}

/** The second part of W3C's form. */
function traceIdIn(traceparent: string): string {
  return traceparent.split("-", 2)[1] ?? "";
}
