// Any upstream with OpenAI's chat completions, and embeddings.

import type { UpstreamConfig } from "../../../catalog/catalog-model.ts";
import type { ChatUpstream } from "../chat-upstream.ts";
import { createHttpUpstream, type HttpUpstreamOptions, type UpstreamWire } from "../http/http-upstream.ts";

const PATHS = { chat: "/chat/completions", embeddings: "/embeddings" } as const;

const WIRE: UpstreamWire = {
  path: ({ endpoint = "chat" }) => PATHS[endpoint],
  headers: (apiKey) => (apiKey === null ? [] : ["authorization", `Bearer ${apiKey}`]),
  requestIdHeader: "x-request-id",
};

/** Opens an upstream. */
export function createOpenAiCompatibleUpstream(config: UpstreamConfig, options: HttpUpstreamOptions): ChatUpstream {
  return createHttpUpstream(config, WIRE, options);
}
