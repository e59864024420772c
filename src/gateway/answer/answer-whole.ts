// Answers a request that is not streamed.

import { ServiceBusy } from "../../kernel/errors.ts";
import type { BilledUsage } from "../metering/bill.ts";
import { withOneRetry } from "./call-upstream.ts";
import type { ChatOutcome } from "../chat.ts";
import { AnswerCollector, type CollectedAnswer } from "./collect-answer.ts";
import type { AnswerFormat } from "../formats/answer-format.ts";
import { formatOf } from "../formats/formats.ts";
import { costIdr } from "../metering/cost-idr.ts";
import { estimateAnswer } from "../metering/estimate.ts";
import { ANSWER_REFUSED } from "./failure-of.ts";
import { type Attempted, attemptRoute, type ChatExchange, type Exchange, learnFrom } from "./exchange.ts";
import { nativeClient } from "./native-client.ts";
import { nothingRelayed, relayedAnswer } from "../metering/relayed-answer.ts";
import { UsageSeen } from "../metering/usage-seen.ts";
import { settleGone } from "./settle-gone.ts";
import type { OpenRoute } from "../upstreams/upstreams.ts";

/** Calls, settles, then shows the answer. Errors: UpstreamBusy, ServiceBusy, ValidationError. */
export async function answerWhole(exchange: ChatExchange): Promise<ChatOutcome> {
  const { bill, call, sinkFor, model, rate } = exchange;
  const attempted = await withOneRetry<Attempted<CollectedAnswer, AnswerCollector>>(exchange, (next, number) => {
    const asked = formatOf(next.upstream.kind);
    const accepts = (answer: Buffer): boolean => sinkFor(next).accepts?.(answer, asked) !== false;
    const listener = new AnswerCollector((answer) => asked.readWhole(answer), accepts);
    return attemptRoute(exchange, { route: next, number, listener });
  });
  const { end, route } = attempted;
  const format = formatOf(route.upstream.kind);
  if (end.kind === "gone") {
    await settleGone(exchange, { ...attempted, failure: end.failure }, nothingRelayed);
    return "client_left";
  }
  if (!end.drained) bill.firstByteReached();
  if (end.isFree === true) bill.failed(ANSWER_REFUSED);
  const billed =
    end.isFree === true
      ? await bill.settleFree()
      : await bill.settleCompleted(
          { usage: UsageSeen.of(end.usage, format), drained: end.drained },
          relayedAnswer(end, format),
        );
  // Another process resolved the hold, and the balance no longer covers the answer.
  if (billed.settled.late === "refused") throw new ServiceBusy();
  if (billed.clamped)
    exchange.report({ kind: "usage_clamped", requestId: call.requestId, upstream: route.upstream.id });
  if (end.drained) {
    await learnFromWhole(exchange, route, end, { billed, format });
    return "client_left";
  }
  const names = { id: format.idOf(call.requestId), model: model.id };
  const json = format.writeWhole(end, names, billed, nativeClient(exchange, route));
  const { id, kind } = route.upstream;
  sinkFor(route).answer({ rate, demo: kind === "demo", origin: id }, { json, format, costIdr: costIdr(billed) });
  await learnFromWhole(exchange, route, end, { billed, format });
  return "answered";
}

async function learnFromWhole(
  exchange: Exchange,
  route: OpenRoute,
  { json, output }: Extract<CollectedAnswer, { kind: "complete" }>,
  { billed, format }: { readonly billed: BilledUsage; readonly format: AnswerFormat },
): Promise<void> {
  const textBytes = output === undefined ? json.length : output.end - output.start;
  await learnFrom(exchange, route, { billed, textBytes, countTokens: () => estimateAnswer(json, format) });
}
