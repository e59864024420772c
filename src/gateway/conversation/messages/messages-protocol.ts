import { readStrictObject } from "../../request/read-json.ts";
import type { ClientProtocol } from "../protocol.ts";
import { readMessagesRequest } from "./read-messages-request.ts";
import { MessagesAnswerWriter } from "./write-messages-answer.ts";

/** Anthropic's Messages. */
export const messagesProtocol: ClientProtocol = {
  read(body) {
    const conversation = readMessagesRequest(readStrictObject(body), { isOnlyCounted: false });
    return { conversation, writer: (facts) => new MessagesAnswerWriter(facts, conversation.model) };
  },
};
