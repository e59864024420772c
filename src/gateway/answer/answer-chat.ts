// The use cases of the gateway, and what is particular to chat among them.

import type { CatalogSnapshot } from "../../catalog/catalog-model.ts";
import { DomainError, InternalError } from "../../kernel/errors.ts";
import { planHold } from "../admission/hold.ts";
import { holdAdditions } from "../admission/hold-additions.ts";
import type { ChatCall, ChatSink, Endpoint, Gateway } from "../chat.ts";
import { readEmbeddingsCall } from "../embeddings/answer-embeddings.ts";
import { estimateInput } from "../metering/estimate.ts";
import { routesThatMayTake } from "../request/cache-marks.ts";
import { readRequest, readWrittenRequest, requireFits } from "../request/read-request.ts";
import { protocolOf } from "../formats/formats.ts";
import type { OpenRoute } from "../upstreams/upstreams.ts";
import { LearnedModels } from "../upstreams/learned-models.ts";
import { answerStreamed } from "./answer-streamed.ts";
import { answerWhole } from "./answer-whole.ts";
import { ChatWritingSink } from "./chat-writing-sink.ts";
import type { Exchange } from "./exchange.ts";
import { ProgressRecorder } from "./progress.ts";
import { RouteHealth } from "./route-health.ts";
import { RouteRequests } from "./route-requests.ts";
import { type GatewayDeps, type ReadCall, type ReadRequest, serve, type ServeDeps, soldModel } from "./serve.ts";

export { type GatewayDeps, MAX_DURATION_MS } from "./serve.ts";

/** Opens the gateway over its neighbours. */
export function createGateway(given: GatewayDeps): Gateway {
  const deps = { progress: new ProgressRecorder(), learned: new LearnedModels(), health: new RouteHealth(), ...given };
  const readers: Readonly<Record<Endpoint, ReadCall>> = {
    chat: (call, snapshot) => readChatCall(deps, call, snapshot),
    embeddings: readEmbeddingsCall,
  };
  return {
    async answerChat(call, sink) {
      try {
        return await serve(deps, call, sink, readers[call.endpoint ?? "chat"]);
      } catch (error) {
        throw error instanceof DomainError ? error : new InternalError({ cause: error });
      }
    },
    async takesEffort(model) {
      const sold = (await deps.catalog.snapshot()).models.get(model);
      return sold !== undefined && deps.learned.apply(sold).hiddenOutput;
    },
  };
}

function readChatCall({ learned, health, clock }: ServeDeps, call: ChatCall, snapshot: CatalogSnapshot): ReadRequest {
  const { body, json } = call;
  const request = json === undefined ? readRequest(body, snapshot.models) : readWrittenRequest(body, json);
  const model = learned.apply(soldModel(request.model, snapshot, "chat"));
  requireFits(request, model);
  const requests = new RouteRequests(call, request, model);
  const { client } = call;
  return {
    model,
    endpoint: "chat",
    routes: routesThatMayTake(request, model, snapshot.upstreams),
    billed: {
      model: request.model,
      stream: request.stream,
      estimateInput: () => estimateInput(request),
      conversation: request,
    },
    refusalBy: (route) => requests.refusalBy(route),
    inOrder: (open) => requests.inOrder(open, ({ upstream }) => health.isHealthy(upstream.id, clock.now())),
    planHold: (routes) => planHold(request, model, holdAdditions(request, client ?? null, routes)),
    requestFor: (route, outputBound) => requests.for(route, outputBound),
    answer(exchange) {
      const chat = { ...exchange, request, sinkFor: (route: OpenRoute) => sinkFor(exchange, requests, route) };
      return request.stream ? answerStreamed(chat) : answerWhole(chat);
    },
  };
}

/** A chat client gets chat, whatever its upstream speaks. The sinks of all others read every format. */
function sinkFor({ sink, call }: Exchange, requests: RouteRequests, { upstream }: OpenRoute): ChatSink {
  if (call.client !== undefined || protocolOf(upstream.kind) === "chat") return sink;
  const facts = { requestId: call.requestId, origin: upstream.id };
  return new ChatWritingSink(sink, facts, requests.chatOptions());
}
