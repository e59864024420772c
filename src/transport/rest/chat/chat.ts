// POST /v1/chat/completions. Its format is OpenAI's JSON and server-sent events, not proto JSON, so it is bound to the contract's
// method by name and passes bytes.

import { GatewayService } from "#gen/saldo/gateway/v1/gateway_service_pb.ts";
import { authenticate } from "../../calls/authenticate.ts";
import { callersOf } from "../../calls/authorise.ts";
import { readCredentials } from "../../calls/call.ts";
import type { HeaderLines } from "../../http/answer-headers.ts";
import type { ModelRoute } from "../model-request.ts";
import { ChatResponseSink } from "./chat-sink.ts";

/** The method of the contract that this handler answers. */
export const chatMethod = GatewayService.method.createChatCompletion;

const WANTED = { environment: null, callers: callersOf(chatMethod) };
const NO_HEADERS: HeaderLines = {};

export const CHAT_ROUTE: ModelRoute = {
  method: chatMethod,
  authenticate: (verifiers, raw) => authenticate(verifiers, readCredentials(raw.rawHeaders, raw), WANTED),
  headersOf: () => NO_HEADERS,
  answer: ({ gateway }, call, response) => gateway.answerChat(call, new ChatResponseSink(response)),
};
