// POST /v1/chat/completions and /v1/embeddings. Their formats are OpenAI's JSON and server-sent events, not proto JSON, so they are
// bound to the contracts' methods by name and pass bytes.

import type { DescMethod } from "@bufbuild/protobuf";
import { EmbeddingsService } from "#gen/saldo/gateway/v1/embeddings_service_pb.ts";
import { GatewayService } from "#gen/saldo/gateway/v1/gateway_service_pb.ts";
import type { Endpoint } from "../../../gateway/chat.ts";
import { authenticate } from "../../calls/authenticate.ts";
import { callersOf } from "../../calls/authorise.ts";
import { readCredentials } from "../../calls/call.ts";
import type { HeaderLines } from "../../http/answer-headers.ts";
import type { ModelRoute } from "../model-request.ts";
import { ChatResponseSink } from "./chat-sink.ts";

/** The method of the contract that the chat route answers. */
export const chatMethod = GatewayService.method.createChatCompletion;

const NO_HEADERS: HeaderLines = {};

export const CHAT_ROUTE = bytesRoute("chat", chatMethod);
export const EMBEDDINGS_ROUTE = bytesRoute("embeddings", EmbeddingsService.method.createEmbeddings);

function bytesRoute(endpoint: Endpoint, method: DescMethod): ModelRoute {
  const wanted = { environment: null, callers: callersOf(method) };
  return {
    method,
    authenticate: (verifiers, raw) => authenticate(verifiers, readCredentials(raw.rawHeaders, raw), wanted),
    headersOf: () => NO_HEADERS,
    answer: ({ gateway }, call, response) => gateway.answerChat({ ...call, endpoint }, new ChatResponseSink(response)),
  };
}
