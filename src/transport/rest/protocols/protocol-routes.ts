import { MessagesService } from "#gen/saldo/gateway/v1/messages_service_pb.ts";
import { ResponsesService } from "#gen/saldo/gateway/v1/responses_service_pb.ts";
import { messagesProtocol } from "../../../gateway/conversation/messages/messages-protocol.ts";
import { responsesProtocol } from "../../../gateway/conversation/responses/responses-protocol.ts";
import type { ModelRoute } from "../model-request.ts";
import { messagesHeaders } from "./messages-errors.ts";
import { protocolRoute } from "./protocol-route.ts";

/** The routes of protocols beside chat on which models answer. */
export const PROTOCOL_ROUTES: readonly ModelRoute[] = [
  protocolRoute(MessagesService.method.createMessage, messagesProtocol, messagesHeaders),
  protocolRoute(ResponsesService.method.createResponse, responsesProtocol),
];
