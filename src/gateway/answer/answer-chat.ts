// The use cases of the gateway, and what is particular to chat among them.

import type { CatalogSnapshot } from "../../catalog/catalog-model.ts";
import { DomainError, InternalError } from "../../kernel/errors.ts";
import { planHold } from "../admission/hold.ts";
import type { Endpoint, Gateway } from "../chat.ts";
import { readEmbeddingsCall } from "../embeddings/answer-embeddings.ts";
import { estimateInput } from "../metering/estimate.ts";
import { routesThatMayTake } from "../request/cache-marks.ts";
import { readRequest, requireFits } from "../request/read-request.ts";
import { upstreamBody } from "../request/upstream-body.ts";
import { LearnedModels } from "../upstreams/learned-models.ts";
import { answerStreamed } from "./answer-streamed.ts";
import { answerWhole } from "./answer-whole.ts";
import { ProgressRecorder } from "./progress.ts";
import { type GatewayDeps, type ReadCall, type ReadRequest, serve, type ServeDeps, soldModel } from "./serve.ts";

export { type GatewayDeps, MAX_DURATION_MS } from "./serve.ts";

/** Opens the gateway over its neighbours. */
export function createGateway(given: GatewayDeps): Gateway {
  const deps = { progress: new ProgressRecorder(), learned: new LearnedModels(), ...given };
  const readers: Readonly<Record<Endpoint, ReadCall>> = {
    chat: (body, snapshot) => readChatCall(deps, body, snapshot),
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

function readChatCall({ learned }: ServeDeps, body: Buffer, snapshot: CatalogSnapshot): ReadRequest {
  const request = readRequest(body, snapshot.models);
  const model = learned.apply(soldModel(request.model, snapshot, "chat"));
  requireFits(request, model);
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
    planHold: () => planHold(request, model),
    bodyFor: (route, outputBound) =>
      upstreamBody(request, { model: route.model, outputBound, outputCapField: route.upstream.outputCapField }),
    answer: (exchange) => (request.stream ? answerStreamed({ ...exchange, request }) : answerWhole(exchange)),
  };
}
