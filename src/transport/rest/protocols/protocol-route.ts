// Routes of protocols beside chat: the same refusals in the same order, and answers in their own protocol.

import type { DescMethod } from "@bufbuild/protobuf";
import { answerConversation } from "../../../gateway/conversation/answer-conversation.ts";
import { protocolHeaders } from "../../../gateway/conversation/protocol-headers.ts";
import type { ClientProtocol } from "../../../gateway/conversation/protocol.ts";
import { authenticate } from "../../calls/authenticate.ts";
import { callersOf } from "../../calls/authorise.ts";
import { readCredentials } from "../../calls/call.ts";
import type { ModelRoute } from "../model-request.ts";
import { protocolCredentials } from "./protocol-paths.ts";
import { ProtocolResponse } from "./protocol-response.ts";

/** `method`: the method of the contract that the route answers. `protocolOf`: the protocol, by the address of a request. */
export function protocolRoute(
  method: DescMethod,
  protocolOf: (url: string) => ClientProtocol,
  headersOf: ModelRoute["headersOf"] = () => ({}),
): ModelRoute {
  const wanted = { environment: null, callers: callersOf(method) };
  return {
    method,
    authenticate: (verifiers, raw) =>
      authenticate(verifiers, protocolCredentials(readCredentials(raw.rawHeaders, raw), raw), wanted),
    headersOf,
    answer({ gateway, keys }, call, response, { url = "", headers }) {
      const protocol = protocolOf(url);
      const own = protocolHeaders(protocol, (name) => headers[name]);
      return answerConversation({ gateway, keys, protocol }, { ...call, headers: own }, new ProtocolResponse(response));
    },
  };
}
