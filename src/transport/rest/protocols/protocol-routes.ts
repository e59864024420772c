import { GeminiService } from "#gen/saldo/gateway/v1/gemini_service_pb.ts";
import { MessagesService } from "#gen/saldo/gateway/v1/messages_service_pb.ts";
import { ResponsesService } from "#gen/saldo/gateway/v1/responses_service_pb.ts";
import { geminiProtocol } from "../../../gateway/conversation/gemini/gemini-protocol.ts";
import { messagesProtocol } from "../../../gateway/conversation/messages/messages-protocol.ts";
import { responsesProtocol } from "../../../gateway/conversation/responses/responses-protocol.ts";
import type { ModelRoute } from "../model-request.ts";
import { modelIn, requireEvents } from "./gemini-path.ts";
import { messagesHeaders } from "./messages-errors.ts";
import { protocolRoute } from "./protocol-route.ts";

/** The routes of protocols beside chat on which models answer. */
export const PROTOCOL_ROUTES: readonly ModelRoute[] = [
  protocolRoute(MessagesService.method.createMessage, () => messagesProtocol, messagesHeaders),
  protocolRoute(ResponsesService.method.createResponse, () => responsesProtocol),
  protocolRoute(GeminiService.method.generateContent, (url) => geminiProtocol({ model: modelIn(url), stream: false })),
  protocolRoute(GeminiService.method.streamGenerateContent, (url) => {
    requireEvents(url);
    return geminiProtocol({ model: modelIn(url), stream: true });
  }),
];
