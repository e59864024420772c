// Counts the input of a request that is not sent yet. Agents shorten a conversation by this count, so it is rather too large.

import { isObject, type JsonObject } from "../../request/field-rules.ts";
import { readStrictObject } from "../../request/read-json.ts";
import { type CountRules, countConversation } from "../count-conversation.ts";
import { readGeminiRequest } from "./read-gemini-request.ts";

/** Google counts nothing around turns. */
const RULES: CountRules = {
  perToken: 1,
  perTokenOfTools: 1,
  perInnerWord: 0,
  before: 0,
  aroundAnInstruction: 1,
  aroundATurn: 1,
  aroundATool: 8,
  aroundACall: 4,
  aroundAResult: 4,
  aroundAParameter: 0,
};

/** The estimated tokens of the contents, or of a whole request. Errors: ValidationError naming each field that is wrong. */
export async function countContents(body: Buffer, model: string): Promise<number> {
  const { conversation } = readGeminiRequest(countedRequest(readStrictObject(body)), { model, stream: false });
  return countConversation(conversation, RULES);
}

/** The protocol has contents alone, or a request with all of its members. */
function countedRequest(body: JsonObject): JsonObject {
  const request = body["generateContentRequest"] ?? body["generate_content_request"];
  return isObject(request) ? request : body;
}
