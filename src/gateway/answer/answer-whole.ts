// Answers a request that is not streamed.

import { UpstreamBusy } from "../../kernel/errors.ts";
import type { BilledUsage } from "../metering/bill.ts";
import { costIdr, billedAnswer } from "./billed-answer.ts";
import { withOneRetry } from "./call-upstream.ts";
import type { ChatOutcome } from "../chat.ts";
import { AnswerCollector, type CollectedAnswer } from "./collect-answer.ts";
import { estimateAnswer } from "../metering/estimate.ts";
import { type Attempted, attemptRoute, type Exchange, learnFrom } from "./exchange.ts";
import { nothingRelayed, relayedAnswer } from "../metering/relayed-answer.ts";
import { UsageSeen } from "../metering/usage-seen.ts";
import { settleGone } from "./settle-gone.ts";
import type { OpenRoute } from "../upstreams/upstreams.ts";

/** Calls, settles, then shows the answer. Errors: UpstreamBusy, ValidationError. */
export async function answerWhole(exchange: Exchange): Promise<ChatOutcome> {
  const { bill, call, sink, model, rate } = exchange;
  const attempted = await withOneRetry<Attempted<CollectedAnswer, AnswerCollector>>(exchange, (next, number) =>
    attemptRoute(exchange, {
      route: next,
      number,
      listener: new AnswerCollector((answer) => sink.accepts?.(answer) !== false),
    }),
  );
  const { end, route } = attempted;
  if (end.kind === "gone") {
    await settleGone(exchange, { ...attempted, failure: end.failure }, nothingRelayed);
    return "client_left";
  }
  if (!end.drained) bill.firstByteReached();
  const billed = await bill.settleCompleted(
    { usage: UsageSeen.of(end.usage), drained: end.drained },
    relayedAnswer(end.json, end.members.get("choices")),
  );
  // Another process resolved the hold, and the balance no longer covers the answer.
  if (billed.settled.late === "refused") throw new UpstreamBusy();
  if (billed.clamped)
    exchange.report({ kind: "usage_clamped", requestId: call.requestId, upstream: route.upstream.id });
  if (end.drained) {
    await learnFromWhole(exchange, route, end, billed);
    return "client_left";
  }
  const json = billedAnswer(end, { id: `chatcmpl-${call.requestId}`, model: model.id, billed });
  sink.answer({ rate, demo: route.upstream.kind === "demo" }, { json, costIdr: costIdr(billed) });
  await learnFromWhole(exchange, route, end, billed);
  return "answered";
}

async function learnFromWhole(
  exchange: Exchange,
  route: OpenRoute,
  { json, members }: Extract<CollectedAnswer, { kind: "complete" }>,
  billed: BilledUsage,
): Promise<void> {
  const choices = members.get("choices");
  const textBytes = choices === undefined ? json.length : choices.end - choices.start;
  await learnFrom(exchange, route, { billed, textBytes, countTokens: () => estimateAnswer(json) });
}
