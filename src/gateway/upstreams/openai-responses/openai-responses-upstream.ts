// An upstream with OpenAI's Responses, and embeddings.

import type { UpstreamConfig } from "../../../catalog/catalog-model.ts";
import type { ChatUpstream } from "../chat-upstream.ts";
import { createHttpUpstream, type HttpUpstreamOptions, type UpstreamWire } from "../http/http-upstream.ts";
import { SealedReasoningCall } from "./sealed-reasoning-call.ts";

const PATHS = { chat: "/responses", embeddings: "/embeddings" } as const;

const WIRE: UpstreamWire = {
  path: ({ endpoint = "chat" }) => PATHS[endpoint],
  headers: (apiKey) => (apiKey === null ? [] : ["authorization", `Bearer ${apiKey}`]),
  requestIdHeader: "x-request-id",
};

/** Opens an upstream. */
export function createOpenAiResponsesUpstream(config: UpstreamConfig, options: HttpUpstreamOptions): ChatUpstream {
  const http = createHttpUpstream(config, WIRE, options);
  return {
    ...http,
    call: (request, listener) => new SealedReasoningCall(http, request, listener),
  };
}
