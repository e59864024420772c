// Answers a request that is not streamed.

import { costIdr, billedAnswer } from "./billed-answer.ts";
import { withOneRetry } from "./call-upstream.ts";
import type { ChatOutcome } from "./chat.ts";
import { AnswerCollector, type CollectedAnswer } from "./collect-answer.ts";
import { estimateAnswer } from "./estimate.ts";
import { type Attempted, attemptRoute, type Exchange } from "./exchange.ts";
import { settleGone } from "./settle-gone.ts";

/** Calls, settles, then shows the answer. Errors: UpstreamBusy, ValidationError. */
export async function answerWhole(exchange: Exchange): Promise<ChatOutcome> {
  const { bill, call, sink, model, rate } = exchange;
  const { end, route, sent } = await withOneRetry<Attempted<CollectedAnswer, AnswerCollector>>(
    exchange.routes,
    (next, number) => attemptRoute(exchange, { route: next, number, listener: new AnswerCollector() }),
  );
  if (end.kind === "gone") {
    await settleGone(exchange, { sent, failure: end.failure }, nothingRelayed);
    return "client_left";
  }
  if (!end.drained) bill.firstByteReached();
  const billed = await bill.settleCompleted(end, end.drained ? nothingRelayed : () => estimateAnswer(end.json));
  if (billed.clamped)
    exchange.report({ kind: "usage_clamped", requestId: call.requestId, upstream: route.upstream.id });
  if (end.drained) return "client_left";
  const answer = billedAnswer(end, { id: `chatcmpl-${call.requestId}`, model: model.id, billed });
  sink.start({ streamed: false, rate, costIdr: costIdr(billed), demo: route.upstream.kind === "demo" });
  sink.write(answer);
  sink.end();
  return "answered";
}

function nothingRelayed(): Promise<number> {
  return Promise.resolve(0);
}
