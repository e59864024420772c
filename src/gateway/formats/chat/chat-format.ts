import { ChatAnswerReader } from "../../conversation/chat/read-chat-answer.ts";
import { CHAT_USAGE } from "../../metering/chat-usage.ts";
import { choicesOf, mediaTokensOfChoice, textOfChoice, textOfMessage } from "../../metering/output-text.ts";
import type { JsonObject } from "../../request/field-rules.ts";
import { dataOf, splitEvents } from "../../stream/sse.ts";
import { failureAnnounced } from "../../upstreams/http/announced-errors.ts";
import type { AnswerFormat } from "../answer-format.ts";
import { billedAnswer } from "./billed-chat.ts";
import { ChatStream } from "./chat-stream.ts";
import { readWholeChat } from "./whole-chat.ts";

/** The answers of OpenAI's chat completions and of whatever is compatible with them. */
export const CHAT_FORMAT: AnswerFormat = {
  protocol: "chat",
  idOf: (requestId) => `chatcmpl-${requestId}`,
  openStream: (facts) => new ChatStream(facts),
  failureOf: failureAnnounced,
  readWhole: readWholeChat,
  writeWhole: (answer, names, billed) => billedAnswer(answer, { ...names, billed }),
  piecesOfEvent: (chunk) => piecesOf(chunk, textOfChoice),
  piecesOfAnswer: (answer) => piecesOf(answer, textOfMessage),
  ...CHAT_USAGE,
  chunksIn: (bytes) => splitEvents(bytes).flatMap((event) => dataOf(event) ?? []),
  openReader: () => new ChatAnswerReader(),
};

function piecesOf(object: JsonObject, textOf: (choice: JsonObject) => string) {
  return choicesOf(object).map((choice) => ({
    place: choice["index"],
    text: textOf(choice),
    mediaTokens: mediaTokensOfChoice(choice),
  }));
}
