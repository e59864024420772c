// Counts the input of a request that is not sent yet. Agents shorten a conversation by this count, so it is rather too large.

import { countConversation } from "../count-conversation.ts";
import { readStrictObject } from "../../request/read-json.ts";
import { claudeCounts } from "./claude-counts.ts";
import { readMessagesRequest } from "./read-messages-request.ts";

/** The estimated tokens of the input. Errors: ValidationError naming each field that is wrong. */
export async function countMessages(body: Buffer): Promise<number> {
  const conversation = readMessagesRequest(readStrictObject(body), { isOnlyCounted: true });
  const { model, tools, toolChoice } = conversation;
  const { rules, toolsPrompt } = claudeCounts(model);
  const isForced = toolChoice?.kind === "any" || toolChoice?.kind === "tool";
  const before = toolsPrompt.tokens + (isForced ? toolsPrompt.moreWhereForced : 0);
  return (await countConversation(conversation, rules)) + (tools.length === 0 ? 0 : before);
}
