import { readStrictObject } from "../../request/read-json.ts";
import { countConversation } from "../count-conversation.ts";
import { readResponsesRequest } from "./read-responses-request.ts";

/** The estimated size of a Responses request, which is not sent to a model. Errors: those of reading the request. */
export async function countResponsesInput(body: Buffer): Promise<{ object: string; input_tokens: number }> {
  const { conversation } = readResponsesRequest(readStrictObject(body));
  return { object: "response.input_tokens", input_tokens: await countConversation(conversation) };
}
