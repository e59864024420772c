// Answers a request as a stream of events.

import { DomainError, InternalError, ServiceBusy, UpstreamBusy } from "../../kernel/errors.ts";
import { isOutOfMoney } from "../../kernel/key-limit-errors.ts";
import type { BilledUsage } from "../metering/bill.ts";
import { answerCut } from "./answer-cut.ts";
import { withOneRetry } from "./call-upstream.ts";
import type { ChatOutcome } from "../chat.ts";
import { type Attempted, attemptRoute, type ChatExchange, learnFrom, reportFailure } from "./exchange.ts";
import { ANSWER_REFUSED, failureOf } from "./failure-of.ts";
import { formatOf } from "../formats/formats.ts";
import { keepAlive } from "./keep-alive.ts";
import { nativeClient } from "./native-client.ts";
import type { ReportedUsage } from "../metering/usage-seen.ts";
import { RelayedOutput } from "../metering/relayed-output.ts";
import { settleGone } from "./settle-gone.ts";
import { settleUndelivered } from "./settle-undelivered.ts";
import type { StreamEnd } from "../stream/answer-end.ts";
import { OutputLimit } from "../stream/output-limit.ts";
import { StreamRelay } from "../stream/relay-stream.ts";
import { SlabGate } from "../stream/slab-gate.ts";
import type { ChatUpstream } from "../upstreams/chat-upstream.ts";
import type { OpenRoute } from "../upstreams/upstreams.ts";

/** Relays, settles, then shows the end of the answer. Errors, before the first byte: UpstreamBusy, ValidationError. */
export async function answerStreamed(exchange: ChatExchange): Promise<ChatOutcome> {
  const head = new StreamHead(exchange);
  const relayed: { output: RelayedOutput | null } = { output: null };
  const progress: { end: (() => void) | null } = { end: null };
  const stopKeepAlive = keepAlive({
    afterMs: exchange.keepAliveMs,
    relayedBytes: () => relayed.output?.bytes ?? 0,
    whenSilent() {
      if (exchange.client.isGone) return;
      head.open();
      exchange.sink.keepAlive();
    },
  });
  try {
    const attempted = await withOneRetry<Attempted<StreamEnd, StreamRelay>>(exchange, (route, number) => {
      head.upstream = route.upstream;
      relayed.output?.forget();
      const output = new RelayedOutput(formatOf(route.upstream.kind));
      relayed.output = output;
      const begin = (): void => {
        head.send();
        progress.end = exchange.progress.begin(async () => exchange.bill.recordProgress(await output.roughTokens()));
      };
      return attemptRoute(exchange, { route, number, listener: relayOf(exchange, { route, output, begin }) });
    });
    return await finish(exchange, { head, attempted });
  } catch (error) {
    if (!head.isSent) throw error;
    return await writeFailure(exchange, error);
  } finally {
    progress.end?.();
    stopKeepAlive();
    relayed.output?.forget();
  }
}

type RelayParts = { readonly route: OpenRoute; readonly output: RelayedOutput; readonly begin: () => void };

function relayOf(exchange: ChatExchange, { route, output, begin }: RelayParts): StreamRelay {
  const { call, model, request, sinkFor, term } = exchange;
  const format = formatOf(route.upstream.kind);
  // A client finds the answer in Usage by this id, and the model in the catalog.
  const names = { id: format.idOf(call.requestId), model: model.id };
  return new StreamRelay({
    sink: sinkFor(route),
    begin,
    output,
    format,
    stream: format.openStream({ names, wantsUsage: request.wantsUsage, native: nativeClient(exchange, route) }),
    limit: limitFor(exchange, output),
    gate: gateFor(exchange, output),
    term,
  });
}

type Ended = { readonly head: StreamHead; readonly attempted: Attempted<StreamEnd, StreamRelay> };

/** Settles what was relayed, and then ends the stream as it ended at the upstream. */
async function finish(exchange: ChatExchange, ended: Ended): Promise<ChatOutcome> {
  const { end, route, listener } = ended.attempted;
  const facts = { requestId: exchange.call.requestId, upstream: route.upstream.id };
  switch (end.kind) {
    case "complete":
      return finishComplete(exchange, ended, end);
    case "broken": {
      reportFailure(exchange, { kind: "stream_broken", upstream: route.upstream.id, failure: end.failure });
      const by = end.failure.isOurs === true ? "service" : "upstream";
      exchange.bill.failed({ code: by === "service" ? "service_busy" : "upstream_busy", inStream: true });
      const { settled } = await settleRelayed(exchange, end.usage, listener.output);
      return writeError(exchange, answerCut({ by, charge: settled.charge }));
    }
    case "stopped":
      if (end.cause.kind === "limit") exchange.report({ kind: "output_ran_on", ...facts });
      return finishStopped(exchange, ended, end);
    case "gone": {
      const gone = { ...ended.attempted, failure: end.failure, usage: end.usage };
      await settleGone(exchange, gone, () => listener.output.estimateTokens());
    }
  }
  return "client_left";
}

async function finishComplete(
  exchange: ChatExchange,
  { head, attempted: { route, listener } }: Ended,
  end: Extract<StreamEnd, { kind: "complete" }>,
): Promise<ChatOutcome> {
  const { bill, call, client, report } = exchange;
  const { output, stream } = listener;
  const completed = { usage: end.usage, drained: end.drained };
  if (end.isFree) bill.failed(ANSWER_REFUSED);
  const billed = end.isFree ? await bill.settleFree() : await bill.settleCompleted(completed, output.written);
  if (billed.settled.late !== undefined && !end.drained) {
    // Another process had resolved the hold: the relayed part is charged, and the answer must not look complete.
    if (head.hasBegun) return writeError(exchange, new ServiceBusy());
    if (billed.settled.late === "refused") throw new ServiceBusy();
  }
  if (!end.drained) head.send();
  if (!client.isGone) listener.sink.end({ passed: stream.complete(end.held, billed), format: listener.format });
  const upstream = route.upstream.id;
  if (billed.clamped) report({ kind: "usage_clamped", requestId: call.requestId, upstream });
  // A stream without a reader is not counted completely.
  const countTokens = end.drained ? null : (): Promise<number> => output.estimateTokens();
  await learnFrom(exchange, route, { billed, textBytes: listener.textBytes, countTokens });
  return client.isGone ? "client_left" : "answered";
}

/** An answer that may not go on ends as a cap on its output ends it. */
async function finishStopped(
  exchange: ChatExchange,
  { head, attempted: { listener } }: Ended,
  end: Extract<StreamEnd, { kind: "stopped" }>,
): Promise<ChatOutcome> {
  const { cause } = end;
  const { output, stream } = listener;
  const isForMoney = cause.kind === "hold" && isOutOfMoney(cause.reason);
  if (cause.kind === "hold") exchange.bill.failed(failureOf(cause.reason, { inStream: head.isSent || isForMoney }));
  // The upstream has answered and charges for it, so the input is billed even where no part of the answer could be shown.
  const billed =
    cause.kind === "limit" || isForMoney
      ? await exchange.bill.settleStopped(end.usage, output, end.withheld)
      : await settleRelayed(exchange, end.usage, output);
  const { charge, late } = billed.settled;
  // Nothing was delivered: the request can be refused.
  if (cause.kind === "hold" && billed.basis === "free") throw cause.reason;
  if (cause.kind === "hold" && !isForMoney) {
    exchange.report({ kind: "answer_failed", requestId: exchange.call.requestId, cause: cause.reason });
    return writeError(exchange, answerCut({ by: "service", charge }));
  }
  if (late !== undefined) return writeError(exchange, new ServiceBusy());
  head.send();
  if (exchange.client.isGone) return "client_left";
  const passed = Buffer.concat([...end.leading, stream.stop(end.unfinished, billed)]);
  listener.sink.end({ passed, format: listener.format });
  return isForMoney ? cause.reason.code : "answered";
}

/** The status was sent, so the error is written into the stream, and the stream does not look complete. */
async function writeFailure(exchange: ChatExchange, error: unknown): Promise<ChatOutcome> {
  exchange.bill.failed(failureOf(error, { inStream: true }));
  if (isOutOfMoney(error)) return writeError(exchange, error);
  // Only comments were sent when the last attempt failed: the error has the same facts as a status would have.
  if (error instanceof DomainError && !exchange.bill.isSettled) {
    await settleUndelivered(exchange);
    return writeError(exchange, error);
  }
  const kind = exchange.bill.hasFailed ? "settlement_failed" : "answer_failed";
  exchange.report({ kind, requestId: exchange.call.requestId, cause: error });
  return writeError(exchange, error instanceof UpstreamBusy ? error : new InternalError());
}

function limitFor({ plan, outputCap }: ChatExchange, output: RelayedOutput): OutputLimit {
  return new OutputLimit({ bound: (outputCap ?? plan.outputBound) * plan.choices, output });
}

/** Null where all that the answer can cost is held already. */
function gateFor(
  { plan, granted, outputCap, bill, topUpUrl, waitingStreams }: ChatExchange,
  output: RelayedOutput,
): SlabGate | null {
  if (outputCap !== null || plan.heldOutput === plan.outputBound) return null;
  return new SlabGate({
    plan,
    granted,
    output,
    extend: (more) => bill.extend(more),
    topUpUrl,
    waiting: waitingStreams,
  });
}

/** Sends the head of the answer once. */
class StreamHead {
  readonly #exchange: ChatExchange;
  /** The upstream of the last attempt. */
  upstream: ChatUpstream | null = null;
  isSent = false;
  /** Whether bytes of the answer have followed. */
  hasBegun = false;

  constructor(exchange: ChatExchange) {
    this.#exchange = exchange;
  }

  /** The first bytes of the answer follow. */
  send(): void {
    if (this.hasBegun) return;
    this.hasBegun = true;
    const { bill, sink } = this.#exchange;
    bill.firstByteReached();
    if (this.isSent) sink.answeredBy?.(this.upstream?.id ?? "");
    else this.open();
  }

  /** Bytes follow that are no part of the answer. */
  open(): void {
    if (this.isSent) return;
    this.isSent = true;
    const { sink, rate } = this.#exchange;
    sink.begin({ rate, demo: this.upstream?.kind === "demo", origin: this.upstream?.id ?? "" });
  }
}

/** Settles an answer that did not reach its end. It is free where no part of it was delivered. */
async function settleRelayed(
  { bill }: ChatExchange,
  usage: ReportedUsage,
  output: RelayedOutput,
): Promise<BilledUsage> {
  const relayed = await output.estimateTokens();
  if (relayed > 0) return bill.settleEstimated(() => Promise.resolve(relayed), usage);
  bill.attemptLost();
  return bill.settleFree();
}

/** Ends the stream with an error, and returns the outcome of the request. */
function writeError({ sink, client }: ChatExchange, error: DomainError): ChatOutcome {
  if (!client.isGone) sink.fail(error);
  return error.recordedCode;
}
