import { parseStrictly, scanStrictly } from "../../request/read-json.ts";
import type { ClientProtocol } from "../protocol.ts";
import { nativeResponses } from "./native-responses.ts";
import { readResponsesRequest } from "./read-responses-request.ts";
import { ResponsesAnswerWriter } from "./write-responses-answer.ts";

/** OpenAI's Responses: requests hold their whole conversation, and no answer is stored. */
export const responsesProtocol: ClientProtocol = {
  name: "responses",
  read(body) {
    const scan = scanStrictly(body);
    const json = parseStrictly(body.toString("utf8"), scan);
    const request = readResponsesRequest(json);
    const native = nativeResponses({ json, body, members: scan.members }, request);
    return {
      conversation: request.conversation,
      ...(native === null ? {} : { native }),
      writer: (facts) => new ResponsesAnswerWriter(request, facts),
    };
  },
};
