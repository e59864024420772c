// One admitted request and everything its answer needs.

import type { CatalogModel } from "../catalog/catalog.ts";
import type { Clock } from "../kernel/clock.ts";
import type { RateState } from "../kernel/rate.ts";
import type { Bill } from "./bill.ts";
import type { FailedAttempt } from "./call-upstream.ts";
import type { ChatCall, ChatSink } from "./chat.ts";
import type { ClientPresence } from "./client-presence.ts";
import type { Drains } from "./drains.ts";
import type { HoldPlan } from "./hold.ts";
import type { ChatRequest } from "./request/read-request.ts";
import { upstreamBody } from "./request/upstream-body.ts";
import type { UpstreamCall, UpstreamFailure, UpstreamListener } from "./upstreams/chat-upstream.ts";
import type { OpenRoute, UnsetUpstream } from "./upstreams/upstreams.ts";

/** What callers are not told. */
export type GatewayEvent =
  | {
      readonly kind: "attempt_failed" | "stream_broken";
      readonly requestId: string;
      readonly upstream: string;
      readonly failure: UpstreamFailure;
    }
  | { readonly kind: "usage_clamped"; readonly requestId: string; readonly upstream: string }
  /** Routes to the upstream are passed over until the variable of this name is set. Told by the first request it concerns. */
  | ({ readonly kind: "upstream_without_credential"; readonly requestId: string } & UnsetUpstream)
  /** The settlement itself failed, or the writing of an answer whose head was out. */
  | {
      readonly kind: "settlement_failed" | "answer_failed";
      readonly requestId: string;
      readonly cause: unknown;
    };

export type Exchange = {
  readonly call: ChatCall;
  readonly sink: ChatSink;
  readonly client: ClientPresence;
  readonly request: ChatRequest;
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
  readonly waitingStreams: Set<unknown>;
  readonly topUpUrl: (() => string) | undefined;
  readonly deadlineMs: number;
  readonly clock: Clock;
  readonly report: (event: GatewayEvent) => void;
};

type AnyEnd = { readonly kind: string };

/** Who hears a call from its start to its end. */
type Attempt<End> = UpstreamListener & {
  readonly ended: Promise<End>;
  readonly upstreamRequestId: string | null;
  /** The client has left, and the call goes on. */
  onClientGone(): void;
  /** The client has left, and the call is over. */
  onGivenUp(): void;
  attach?(call: UpstreamCall): void;
};

/** An attempt that did not fail: how it ended, who heard it and who was called. */
export type Attempted<End, Listener> = {
  readonly kind: "attempted";
  readonly end: End;
  readonly listener: Listener;
  readonly route: OpenRoute;
  /** Whether the upstream may charge for the call. */
  readonly sent: boolean;
};

/** Calls one route and waits for the end of the attempt, the client leaving, or the deadline. */
export async function attemptRoute<End extends AnyEnd, Listener extends Attempt<End | FailedAttempt>>(
  exchange: Exchange,
  { route, number, listener }: { route: OpenRoute; number: number; listener: Listener & Attempt<End | FailedAttempt> },
): Promise<Attempted<End, Listener> | FailedAttempt> {
  const { call, request, client, bill } = exchange;
  if (client.isGone) listener.onGivenUp();
  const body = upstreamBody(request, {
    model: route.model,
    outputCap: exchange.outputCap,
    outputCapField: route.upstream.outputCapField,
  });
  const upstreamCall = client.isGone
    ? null
    : route.upstream.call(
        { requestId: call.requestId, attempt: number, model: route.model, body, stream: request.stream },
        listener,
      );
  if (upstreamCall !== null) listener.attach?.(upstreamCall);
  const drain: { end: (() => void) | null } = { end: null };
  client.whenGone(() => {
    // A request that waits for its connection has cost nothing yet.
    if (upstreamCall?.sent === true) drain.end = exchange.drains.begin(giveUp);
    if (drain.end === null) giveUp();
    else listener.onClientGone();
  });
  const timer = setTimeout(() => {
    upstreamCall?.abort();
    listener.onFailure({ kind: "perhaps_billed", reason: "the request took longer than any may" });
  }, exchange.deadlineMs - exchange.clock.now());
  const end = await listener.ended;
  if (end.kind === "complete") upstreamCall?.letGo();
  else upstreamCall?.abort();
  clearTimeout(timer);
  drain.end?.();
  client.whenGone(null);

  const { upstreamRequestId } = listener;
  bill.answeredBy({
    upstream: route.upstream.id,
    upstreamModel: route.model,
    upstreamRequestId,
    cost: route.cost ?? null,
  });
  if (isFailed(end)) {
    exchange.report({
      kind: "attempt_failed",
      requestId: call.requestId,
      upstream: route.upstream.id,
      failure: end.failure,
    });
    return end;
  }
  return { kind: "attempted", end, listener, route, sent: upstreamCall?.sent ?? false };

  function giveUp(): void {
    upstreamCall?.abort();
    listener.onGivenUp();
  }
}

function isFailed(end: AnyEnd): end is FailedAttempt {
  return end.kind === "failed";
}
