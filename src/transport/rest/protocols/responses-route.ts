import { ResponsesService } from "#gen/saldo/gateway/v1/responses_service_pb.ts";
import { responsesProtocol } from "../../../gateway/conversation/responses/responses-protocol.ts";
import { protocolRoute } from "./protocol-route.ts";

/** POST /v1/responses, for clients of OpenAI's Responses. */
export const RESPONSES_ROUTE = protocolRoute({
  method: ResponsesService.method.createResponse,
  protocol: responsesProtocol,
  keyHeader: null,
  headersOf: () => ({}),
});
