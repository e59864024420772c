import { readStrictObject } from "../../request/read-json.ts";
import type { ClientProtocol } from "../protocol.ts";
import { MESSAGES_HEADERS, nativeMessages } from "./native-messages.ts";
import { readMessagesRequest } from "./read-messages-request.ts";
import { MessagesAnswerWriter } from "./write-messages-answer.ts";

/** Anthropic's Messages. */
export const messagesProtocol: ClientProtocol = {
  name: "messages",
  headerNames: MESSAGES_HEADERS,
  read(body) {
    const object = readStrictObject(body);
    const conversation = readMessagesRequest(object, { isOnlyCounted: false });
    return {
      conversation,
      native: nativeMessages(object, body, conversation),
      writer: (facts) => new MessagesAnswerWriter(facts, conversation.model),
    };
  },
};
