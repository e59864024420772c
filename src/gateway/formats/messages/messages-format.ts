import { MessagesAnswerReader } from "../../conversation/messages/read-messages-answer.ts";
import { MESSAGES_USAGE } from "../../metering/messages-usage.ts";
import { dataOf, splitEvents } from "../../stream/sse.ts";
import type { AnswerFormat } from "../answer-format.ts";
import { billedMessage } from "./billed-message.ts";
import { failureOfMessage } from "./message-failure.ts";
import { blocksOf, textOfBlock, textOfEvent } from "./message-text.ts";
import { MessagesStream } from "./messages-stream.ts";
import { readWholeMessage } from "./whole-message.ts";

/** The answers of Anthropic's Messages. */
export const MESSAGES_FORMAT: AnswerFormat = {
  protocol: "messages",
  idOf: (requestId) => `msg_${requestId}`,
  openStream: (facts) => new MessagesStream(facts),
  failureOf: failureOfMessage,
  readWhole: readWholeMessage,
  writeWhole: billedMessage,
  piecesOfEvent: (event) => [{ place: event["index"], text: textOfEvent(event), mediaTokens: 0 }],
  piecesOfAnswer: (answer) =>
    blocksOf(answer).map((block, place) => ({ place, text: textOfBlock(block, "{}"), mediaTokens: 0 })),
  ...MESSAGES_USAGE,
  chunksIn: (bytes) => splitEvents(bytes).flatMap((event) => dataOf(event) ?? []),
  openReader: (origin) => new MessagesAnswerReader(origin),
};
