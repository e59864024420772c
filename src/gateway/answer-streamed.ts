// Answers a request as a stream of events.

import { type DomainError, InsufficientBalance, InternalError, UpstreamBusy } from "../kernel/errors.ts";
import { formatMoney } from "../kernel/money.ts";
import type { BilledUsage } from "./bill.ts";
import { billedChunk, usageJson } from "./billed-answer.ts";
import { withOneRetry } from "./call-upstream.ts";
import type { ChatOutcome } from "./chat.ts";
import { type Attempted, attemptRoute, type Exchange } from "./exchange.ts";
import { StreamRelay } from "./relay-stream.ts";
import { RelayedOutput } from "./relayed-output.ts";
import { settleGone } from "./settle-gone.ts";
import { SlabGate } from "./slab-gate.ts";
import { eventOf } from "./sse.ts";
import type { StreamEnd } from "./stream-end.ts";

const DONE = eventOf("[DONE]");

/** Relays, settles, then shows the end of the answer. Errors, before the first byte: UpstreamBusy, ValidationError. */
export async function answerStreamed(exchange: Exchange): Promise<ChatOutcome> {
  const head = new StreamHead(exchange);
  let output = new RelayedOutput();
  try {
    const attempted = await withOneRetry<Attempted<StreamEnd, StreamRelay>>(exchange.routes, (next, number) => {
      const begin = (): void => head.send(next.upstream.kind === "demo");
      output.forget();
      output = new RelayedOutput();
      const listener = new StreamRelay({ sink: exchange.sink, begin, output, gate: gateFor(exchange, output) });
      return attemptRoute(exchange, { route: next, number, listener });
    });
    const { end, route, sent } = attempted;
    const estimate = (): Promise<number> => output.estimateTokens();
    switch (end.kind) {
      case "complete": {
        const billed = await exchange.bill.settleCompleted(end, estimate);
        if (!end.drained) head.send(route.upstream.kind === "demo");
        writeEnd(exchange, end, billed);
        if (billed.clamped) reportClamped(exchange, route.upstream.id);
        return exchange.client.isGone ? "client_left" : "answered";
      }
      case "broken":
        exchange.report({
          kind: "stream_broken",
          requestId: exchange.call.requestId,
          upstream: route.upstream.id,
          failure: end.failure,
        });
        await settleBroken(exchange, estimate);
        return writeError(exchange, new UpstreamBusy());
      case "stopped":
        await settleBroken(exchange, estimate);
        throw end.reason;
      case "gone":
        await settleGone(exchange, { sent, failure: end.failure }, estimate);
    }
    return "client_left";
  } catch (error) {
    if (!head.isSent) throw error;
    return tellFailure(exchange, error);
  } finally {
    output.forget();
  }
}

/** The status is out, so what went wrong is told inside the stream, and the stream is not made to look complete. */
function tellFailure(exchange: Exchange, error: unknown): ChatOutcome {
  if (error instanceof InsufficientBalance) return writeError(exchange, error);
  const kind = exchange.bill.hasFailed ? "settlement_failed" : "answer_failed";
  exchange.report({ kind, requestId: exchange.call.requestId, cause: error });
  return writeError(exchange, error instanceof UpstreamBusy ? error : new InternalError({ cause: error }));
}

/** Null where all that the answer can cost is held already. */
function gateFor(
  { plan, granted, outputCap, bill, topUpUrl, waitingStreams }: Exchange,
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
  readonly #exchange: Exchange;
  isSent = false;

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
  }

  send(demo: boolean): void {
    if (this.isSent) return;
    this.isSent = true;
    const { bill, sink, rate } = this.#exchange;
    bill.firstByteReached();
    sink.start({ streamed: true, rate, costIdr: null, demo });
  }
}

/** What broke off before it said anything costs nothing. */
async function settleBroken({ bill }: Exchange, estimate: () => Promise<number>): Promise<void> {
  const output = await estimate();
  if (output === 0) await bill.settleFree();
  else await bill.settleEstimated(() => Promise.resolve(output));
}

function writeEnd(
  { sink, client, request, call, model }: Exchange,
  end: Extract<StreamEnd, { kind: "complete" }>,
  billed: BilledUsage,
): void {
  if (client.isGone) return;
  const frames = [...end.held];
  if (request.wantsUsage) {
    frames.push(eventOf(end.usageChunk === null ? ownUsageChunk() : billedChunk(end.usageChunk, billed)));
  }
  frames.push(DONE);
  sink.write(Buffer.concat(frames));
  sink.end();

  function ownUsageChunk(): string {
    const { id, created, model: name } = end.lastChunk;
    const chunk = {
      id: typeof id === "string" ? id : `chatcmpl-${call.requestId}`,
      object: "chat.completion.chunk",
      created: typeof created === "number" ? created : 0,
      model: typeof name === "string" ? name : model.id,
      choices: [],
    };
    return `${JSON.stringify(chunk).slice(0, -1)},"usage":${usageJson(billed)}}`;
  }
}

/** Tells an error inside the stream, and gives what the request ended with. */
function writeError({ sink, client }: Exchange, error: DomainError): ChatOutcome {
  const { message, code } = error;
  if (client.isGone) return code;
  const body =
    error instanceof InsufficientBalance
      ? { message, type: "insufficient_quota", code, ...factsOf(error) }
      : { message, type: "server_error", code };
  sink.write(eventOf(JSON.stringify({ error: body })));
  sink.end();
  return code;
}

/** For callers that get the error typed, over RPC. */
function factsOf({ available, needed }: InsufficientBalance): { available: string; needed: string } {
  return { available: formatMoney(available), needed: formatMoney(needed) };
}

function reportClamped({ report, call }: Exchange, upstream: string): void {
  report({ kind: "usage_clamped", requestId: call.requestId, upstream });
}
