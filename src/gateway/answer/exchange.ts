// One admitted request, of whichever endpoint, with all facts that its answer needs.

import type { TraceSpan } from "../../kernel/tracing.ts";
import { attemptFacts } from "./span-attributes.ts";
import type { CatalogModel } from "../../catalog/catalog-model.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { RateState } from "../../kernel/rate.ts";
import type { RequestTerm } from "../../ledger/lease-term.ts";
import type { Bill } from "../metering/bill.ts";
import type { FailedAttempt } from "./call-upstream.ts";
import type { ChatCall, ChatSink, Endpoint } from "../chat.ts";
import type { ClientPresence } from "./client-presence.ts";
import type { Drains } from "./drains.ts";
import type { HoldPlan } from "../admission/hold.ts";
import type { ProgressRecorder } from "./progress.ts";
import type { BilledAnswerFacts, LearnedModels } from "../upstreams/learned-models.ts";
import type { ChatRequest } from "../request/read-request.ts";
import type { RouteHealth } from "./route-health.ts";
import type { RouteRequest } from "./route-request.ts";
import { protocolOf } from "../formats/formats.ts";
import type { GoneFacts } from "./gone-facts.ts";
import { timeLimitsOf } from "./time-limits.ts";
import type { UpstreamCall, UpstreamFailure, UpstreamListener } from "../upstreams/chat-upstream.ts";
import type { OpenRoute, UnsetUpstream } from "../upstreams/upstreams.ts";

/** Events that callers do not see. */
export type GatewayEvent =
  | {
      readonly kind: "attempt_failed" | "stream_broken";
      readonly requestId: string;
      readonly upstream: string;
      readonly failure: UpstreamFailure;
    }
  /** This process did not run for as long as its lease, so it ended the request. The upstream did nothing wrong. */
  | { readonly kind: "lease_lapsed"; readonly requestId: string }
  /**
   * `output_ran_on`: the upstream wrote on behind its bound, and the stream was ended. `usage_unpriced`: it reports a tier, a speed, a
   * place or runs of tools that the catalog has no price for.
   */
  | {
      readonly kind: "usage_clamped" | "usage_unpriced" | "output_ran_on";
      readonly requestId: string;
      readonly upstream: string;
    }
  /** An account leaves more unanswered requests at a time than it may: the input of this one is charged. */
  | { readonly kind: "too_many_unanswered"; readonly requestId: string; readonly accountId: string }
  /** The model charges hidden output, and the catalog lacks that fact: its whole bound is held from now on. */
  | {
      readonly kind: "hidden_output_learned";
      readonly requestId: string;
      readonly upstream: string;
      readonly model: string;
    }
  /** The upstream sent bytes that answer no request: its connections are not used again. */
  | { readonly kind: "upstream_mixed_up"; readonly requestId: null; readonly upstream: string }
  /** Routes to the upstream are skipped until the variable of this name is set. Only the first request reports it. */
  | ({ readonly kind: "upstream_without_credential"; readonly requestId: string } & UnsetUpstream)
  /** The settlement failed, or the writing of an answer whose head was sent. */
  | {
      readonly kind: "settlement_failed" | "answer_failed" | "answer_not_kept";
      readonly requestId: string;
      readonly cause: unknown;
    };

export type Exchange = {
  readonly call: ChatCall;
  readonly sink: ChatSink;
  readonly client: ClientPresence;
  readonly endpoint: Endpoint;
  readonly stream: boolean;
  /** The request for one upstream. It is valid for one call. Errors: ValidationError where the route cannot take it. */
  readonly requestFor: (route: OpenRoute, outputBound: number) => RouteRequest;
  readonly model: CatalogModel;
  readonly routes: readonly OpenRoute[];
  readonly bill: Bill;
  readonly rate: RateState;
  /** The cap that the granted hold puts on the output, null where it covers all that was asked. */
  readonly outputCap: number | null;
  readonly plan: HoldPlan;
  /** Micro-rupiah that admission has granted. */
  readonly granted: bigint;
  readonly drains: Drains;
  readonly progress: ProgressRecorder;
  readonly waitingStreams: Set<unknown>;
  readonly topUpUrl: (() => string) | undefined;
  readonly deadlineMs: number;
  /** The lease under which the request was admitted. When it is over nothing more may be sent. */
  readonly term: RequestTerm;
  readonly clock: Clock;
  /** The silence of a stream after which a comment goes out, in milliseconds. 0: never. */
  readonly keepAliveMs: number;
  readonly slowestTokensPerSecond: number | undefined;
  readonly learned: LearnedModels;
  readonly health: RouteHealth;
  readonly report: (event: GatewayEvent) => void;
};

/** A chat request. */
export type ChatExchange = Exchange & {
  readonly request: ChatRequest;
  /** The sink for the answer of a route, in whichever protocol its upstream writes. */
  readonly sinkFor: (route: OpenRoute) => ChatSink;
};

/** This process did not run for as long as its lease. The upstream was called, so no other one is. */
const LEASE_OVER: UpstreamFailure = {
  kind: "perhaps_billed",
  reason: "the lease of this process has run out",
  isOurs: true,
};

const NO_TRACE: { readonly traceparent?: string } = {};

type AnyEnd = { readonly kind: string };

/** The listener of a call from its start to its end. */
type Attempt<End> = UpstreamListener & {
  readonly ended: Promise<End>;
  readonly upstreamRequestId: string | null;
  /** Whether any part of an answer has arrived. Bytes that only keep the connection open are none. */
  readonly hasAnswered: boolean;
  /** The client has left, and the call goes on. */
  onClientGone(): void;
  /** The client has left, and the call is over. */
  onGivenUp(): void;
  /** As `onFailure`, and nothing more may be sent, waiting packets included. Absent: no packets ever wait. */
  onLeaseOver?(failure: UpstreamFailure): void;
  /** `emptyLimitMs`: how long the call may bring only bytes that are no part of an answer. */
  attach?(call: UpstreamCall, emptyLimitMs: number): void;
};

/** An attempt that did not fail: its end, its listener and its route. */
export type Attempted<End, Listener> = {
  readonly kind: "attempted";
  readonly end: End;
  readonly listener: Listener;
  readonly route: OpenRoute;
} & Pick<GoneFacts, "sent" | "answered" | "tooMany">;

/** Calls one route and waits for the end of the attempt, the client leaving, or the deadline. */
export async function attemptRoute<End extends AnyEnd, Listener extends Attempt<End | FailedAttempt>>(
  exchange: Exchange,
  { route, number, listener }: { route: OpenRoute; number: number; listener: Listener & Attempt<End | FailedAttempt> },
): Promise<Attempted<End, Listener> | FailedAttempt> {
  const { call, client, bill } = exchange;
  const { accountId } = call.key;
  if (client.isGone) listener.onGivenUp();
  const request = exchange.requestFor(route, exchange.outputCap ?? exchange.plan.outputBound);
  const facts = callFactsOf(exchange, route, number);
  const span = call.span ? beginAttempt(call.span, exchange, route, number) : null;
  const upstreamCall = client.isGone
    ? null
    : route.upstream.call(
        { requestId: call.requestId, attempt: number, ...request, ...facts, ...traceOf(span) },
        listener,
      );
  if (upstreamCall !== null) listener.attach?.(upstreamCall, facts.idleTimeoutMs);
  const drain: { end: (() => void) | null; tooMany: boolean } = { end: null, tooMany: false };
  client.whenGone(() => {
    // A request that still waits for a connection has cost nothing.
    if (upstreamCall?.sent === true) beginDrain(listener.hasAnswered);
    if (drain.end === null) giveUp();
    else listener.onClientGone();
  });
  const timer = setTimeout(() => {
    upstreamCall?.abort();
    listener.onFailure({ kind: "perhaps_billed", reason: "the request took longer than any may" });
  }, exchange.deadlineMs - exchange.clock.now());
  const leaveTerm = exchange.term.whenOver(() => {
    upstreamCall?.abort();
    if (listener.onLeaseOver === undefined) listener.onFailure(LEASE_OVER);
    else listener.onLeaseOver(LEASE_OVER);
  });
  const end = await listener.ended;
  leaveTerm();
  if (end.kind === "complete") upstreamCall?.letGo();
  else upstreamCall?.abort();
  clearTimeout(timer);
  drain.end?.();
  client.whenGone(null);

  noteHealth(exchange, route.upstream.id, end);
  const { upstreamRequestId } = listener;
  endAttempt(span, end);
  bill.answeredBy({
    span: isFailed(end) ? null : span,
    upstream: route.upstream.id,
    upstreamModel: route.model,
    upstreamRequestId,
    cost: route.cost ?? null,
  });
  if (isFailed(end)) {
    reportFailure(exchange, { kind: "attempt_failed", upstream: route.upstream.id, failure: end.failure });
    if (end.failure.kind === "perhaps_billed") bill.attemptLost();
    return end;
  }
  const sent = upstreamCall?.sent === true;
  return { kind: "attempted", end, listener, route, sent, answered: listener.hasAnswered, tooMany: drain.tooMany };

  function beginDrain(isAnswered: boolean): void {
    const place = isAnswered ? null : exchange.drains.takeUnanswered(accountId);
    drain.tooMany = !isAnswered && place === null;
    if (drain.tooMany) exchange.report({ kind: "too_many_unanswered", requestId: call.requestId, accountId });
    const endDrain = drain.tooMany ? null : exchange.drains.begin(giveUp);
    // The place of a call that is aborted at once stays taken for its time.
    if (endDrain === null) return;
    drain.end = () => {
      endDrain();
      place?.();
    };
  }

  function giveUp(): void {
    upstreamCall?.abort();
    listener.onGivenUp();
  }
}

/** Reports an upstream's failure, or that this process caused it. */
export function reportFailure(
  { call: { requestId }, report }: Exchange,
  event: {
    readonly kind: "attempt_failed" | "stream_broken";
    readonly upstream: string;
    readonly failure: UpstreamFailure;
  },
): void {
  report(event.failure.isOurs === true ? { kind: "lease_lapsed", requestId } : { ...event, requestId });
}

/**
 * Learns from a billed answer that its model hides output. A model that hides it where it is asked to think is held for by the request.
 * A failure here does no harm: the answer was billed and shown.
 */
export async function learnFrom(
  { learned, model, call, plan, report }: Exchange,
  route: OpenRoute,
  facts: Pick<BilledAnswerFacts, "billed" | "textBytes" | "countTokens">,
): Promise<void> {
  const ids = { upstream: route.upstream.id, requestId: call.requestId };
  if (plan.thinksUnseen && protocolOf(route.upstream.kind) === "messages") return;
  if (!(await learned.learn({ ...facts, ...ids, model }))) return;
  report({ kind: "hidden_output_learned", ...ids, model: model.id });
}

function beginAttempt(parent: TraceSpan, exchange: Exchange, route: OpenRoute, number: number): TraceSpan {
  const { endpoint, stream, outputCap, plan } = exchange;
  const outputBound = outputCap ?? plan.outputBound;
  const { name, attributes } = attemptFacts({ endpoint, stream, outputBound, number, route });
  return parent.begin(name, "client", attributes);
}

function traceOf(span: TraceSpan | null): typeof NO_TRACE {
  return span === null ? NO_TRACE : { traceparent: span.traceparent };
}

/** The bill sets the counts of an attempt that did not fail, and ends its span. */
function endAttempt(span: TraceSpan | null, end: AnyEnd): void {
  if (isFailed(end)) span?.end(end.failure.kind);
  else span?.stop(end.kind === "broken" ? "stream_broken" : undefined);
}

/** A refusal is an answer. */
function noteHealth({ health, clock }: Exchange, upstream: string, end: AnyEnd): void {
  const hasFailed = isFailed(end)
    ? end.failure.kind !== "refused" && end.failure.isOurs !== true
    : end.kind === "broken";
  if (hasFailed) health.failed(upstream, clock.now());
  else health.answered(upstream);
}

function callFactsOf(exchange: Exchange, route: OpenRoute, number: number) {
  const { stream, endpoint, plan, outputCap, routes, deadlineMs, clock, slowestTokensPerSecond } = exchange;
  const { firstByteMs, idleMs } = timeLimitsOf({
    route,
    hasNext: number === 1 && routes.length > 1,
    stream,
    plan,
    outputCap,
    remainingMs: Math.max(1, deadlineMs - clock.now()),
    slowestTokensPerSecond,
  });
  return { model: route.model, stream, endpoint, firstByteTimeoutMs: firstByteMs, idleTimeoutMs: idleMs };
}

function isFailed(end: AnyEnd): end is FailedAttempt {
  return end.kind === "failed";
}
