// Requests for the vectors of texts: how they are read and answered. All the rest is as for chat.

import { inputTokensOf } from "../../billing/cost.ts";
import type { CatalogSnapshot } from "../../catalog/catalog-model.ts";
import { ServiceBusy } from "../../kernel/errors.ts";
import { withOneRetry } from "../answer/call-upstream.ts";
import { AnswerCollector, type CollectedAnswer } from "../answer/collect-answer.ts";
import { type Attempted, attemptRoute, type Exchange } from "../answer/exchange.ts";
import { type ReadRequest, soldModel } from "../answer/serve.ts";
import { settleGone } from "../answer/settle-gone.ts";
import type { ChatCall, ChatOutcome } from "../chat.ts";
import { CHAT_FORMAT } from "../formats/chat/chat-format.ts";
import type { BilledUsage } from "../metering/bill.ts";
import { costIdr } from "../metering/cost-idr.ts";
import { NOTHING_RELAYED, nothingRelayed } from "../metering/relayed-answer.ts";
import { UsageSeen } from "../metering/usage-seen.ts";
import { customerTag } from "../request/customer-tag.ts";
import { countInputs, planEmbeddings } from "./plan-embeddings.ts";
import { type EmbeddingsRequest, readEmbeddings, requireInputsFit } from "./read-embeddings.ts";
import { VectorReader } from "./vectors.ts";

/** Reads a body. Errors: ModelNotFound, ValidationError. */
export function readEmbeddingsCall({ body, key }: ChatCall, snapshot: CatalogSnapshot): ReadRequest {
  const request = readEmbeddings(body);
  const model = soldModel(request.model, snapshot, "embeddings");
  requireInputsFit(request, model);
  return {
    model,
    endpoint: "embeddings",
    routes: model.routes,
    billed: {
      model: request.model,
      stream: false,
      estimateInput: () => countInputs(request),
      conversation: null,
    },
    planHold: () => planEmbeddings(request, model),
    requestFor: (route) => ({ body: bodyOf(request, route.model, customerTag(key.accountId)) }),
    answer: (exchange) => answerEmbeddings(exchange, request),
  };
}

/** The encoding is the client's, so that most answers need no conversion. A tag stands for the person that the client names. */
function bodyOf(request: EmbeddingsRequest, model: string, userTag: string): Buffer {
  const { inputJson, encoding, dimensions, user } = request;
  const others = {
    encoding_format: encoding,
    ...(dimensions === null ? {} : { dimensions }),
    ...(user === null ? {} : { user: userTag }),
  };
  const end = JSON.stringify(others).slice(1);
  return Buffer.concat([Buffer.from(`{"model":${JSON.stringify(model)},"input":`), inputJson, Buffer.from(`,${end}`)]);
}

/** Calls, settles, then shows the vectors. Errors: UpstreamBusy, ServiceBusy, ValidationError. */
async function answerEmbeddings(exchange: Exchange, request: EmbeddingsRequest): Promise<ChatOutcome> {
  const { bill, call, sink, model, rate, report } = exchange;
  const vectors = new VectorReader(request.inputs.length);
  const attempted = await withOneRetry<Attempted<CollectedAnswer, AnswerCollector>>(exchange, (route, number) =>
    attemptRoute(exchange, { route, number, listener: new AnswerCollector((bytes) => vectors.read(bytes)) }),
  );
  const { end, route } = attempted;
  if (end.kind === "gone") {
    await settleGone(exchange, { ...attempted, failure: end.failure }, nothingRelayed);
    return "client_left";
  }
  if (!end.drained) bill.firstByteReached();
  // A conversion that fails must leave nothing charged.
  const written = end.drained ? [] : await vectors.write(request.encoding);
  const billed = await bill.settleCompleted(
    { usage: UsageSeen.of(end.usage, CHAT_FORMAT), drained: end.drained },
    NOTHING_RELAYED,
  );
  // Another process resolved the hold, and the balance no longer covers the answer.
  if (billed.settled.late === "refused") throw new ServiceBusy();
  if (billed.clamped) report({ kind: "usage_clamped", requestId: call.requestId, upstream: route.upstream.id });
  if (end.drained) return "client_left";
  const json = writeAnswer(written, model.id, billed);
  const { id, kind } = route.upstream;
  sink.answer({ rate, demo: kind === "demo", origin: id }, { json, format: CHAT_FORMAT, costIdr: costIdr(billed) });
  return "answered";
}

function writeAnswer(vectors: readonly Buffer[], model: string, billed: BilledUsage): Buffer {
  const tokens = inputTokensOf(billed.counts);
  const usage = { prompt_tokens: tokens, total_tokens: tokens, cost_idr: costIdr(billed) };
  const parts: Buffer[] = [Buffer.from('{"object":"list","data":[')];
  for (const [index, vector] of vectors.entries()) {
    parts.push(Buffer.from(`${index === 0 ? "" : ","}{"object":"embedding","index":${index},"embedding":`), vector);
    parts.push(CLOSE_BRACE);
  }
  parts.push(Buffer.from(`],"model":${JSON.stringify(model)},"usage":${JSON.stringify(usage)}}`));
  return Buffer.concat(parts);
}

const CLOSE_BRACE = Buffer.from("}");
