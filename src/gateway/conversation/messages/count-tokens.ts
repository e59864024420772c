// Counts the input of a request that is not sent yet. Agents shorten a conversation by this count, so it is rather too large.

import { countConversation } from "../count-conversation.ts";
import { readStrictObject } from "../../request/read-json.ts";
import { readMessagesRequest } from "./read-messages-request.ts";

/** Around a prompt that begins with no instructions. */
const TOKENS_BEFORE_A_TURN = 3;
/**
 * The prompt that Anthropic puts before tools. Claude Code subtracts it, and more, where it counts its tools one by one: without
 * it they would have no tokens at all.
 */
const TOKENS_BEFORE_TOOLS = 346;

/** The estimated tokens of the input. Errors: ValidationError naming each field that is wrong. */
export async function countMessages(body: Buffer): Promise<number> {
  const conversation = readMessagesRequest(readStrictObject(body), { isOnlyCounted: true });
  const { system, tools } = conversation;
  const before = (system.length === 0 ? TOKENS_BEFORE_A_TURN : 0) + (tools.length === 0 ? 0 : TOKENS_BEFORE_TOOLS);
  return (await countConversation(conversation)) + before;
}
