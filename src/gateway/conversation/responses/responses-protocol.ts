import { readStrictObject } from "../../request/read-json.ts";
import type { ClientProtocol } from "../protocol.ts";
import { readResponsesRequest } from "./read-responses-request.ts";
import { ResponsesAnswerWriter } from "./write-responses-answer.ts";

/** OpenAI's Responses: requests hold their whole conversation, and no answer is stored. */
export const responsesProtocol: ClientProtocol = {
  name: "responses",
  read(body) {
    const request = readResponsesRequest(readStrictObject(body));
    return {
      conversation: request.conversation,
      writer: (facts) => new ResponsesAnswerWriter(request, facts),
    };
  },
};
