import { readStrictObject } from "../../request/read-json.ts";
import { type CountRules, countConversation } from "../count-conversation.ts";
import { readResponsesRequest } from "./read-responses-request.ts";

/** OpenAI's models read a beginning of the answer as well. */
const RULES: CountRules = {
  perToken: 1,
  perTokenOfTools: 1,
  perInnerWord: 0,
  before: 3,
  aroundAnInstruction: 4,
  aroundATurn: 4,
  aroundATool: 8,
  aroundACall: 4,
  aroundAResult: 4,
  aroundAParameter: 0,
};

/** The estimated size of a Responses request, which is not sent to a model. Errors: those of reading the request. */
export async function countResponsesInput(body: Buffer): Promise<{ object: string; input_tokens: number }> {
  const { conversation } = readResponsesRequest(readStrictObject(body));
  return { object: "response.input_tokens", input_tokens: await countConversation(conversation, RULES) };
}
