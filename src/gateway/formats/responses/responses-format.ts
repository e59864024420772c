import { ResponsesAnswerReader } from "../../conversation/responses/read-responses-answer.ts";
import { RESPONSES_USAGE } from "../../metering/responses-usage.ts";
import { dataOf, splitEvents } from "../../stream/sse.ts";
import type { AnswerFormat } from "../answer-format.ts";
import { billedResponse } from "./billed-response.ts";
import { type ItemText, textsOfEvent, textsOfResponse } from "./item-texts.ts";
import { failureOfResponse } from "./read-response-event.ts";
import { ResponsesStream } from "./responses-stream.ts";
import { readWholeResponse } from "./whole-response.ts";

/** The answers of OpenAI's Responses. */
export const RESPONSES_FORMAT: AnswerFormat = {
  protocol: "responses",
  idOf: (requestId) => `resp_${requestId}`,
  openStream: (facts) => new ResponsesStream(facts),
  failureOf: failureOfResponse,
  readWhole: readWholeResponse,
  writeWhole: billedResponse,
  piecesOfEvent: (event) => textsOfEvent(event).filter(isAdded(event)).map(pieceOf),
  piecesOfAnswer: (answer) => textsOfResponse(answer).map(pieceOf),
  ...RESPONSES_USAGE,
  chunksIn: (bytes) => splitEvents(bytes).flatMap((event) => dataOf(event) ?? []),
  openReader: (origin) => new ResponsesAnswerReader(origin),
};

/** The end of an item and of the response repeat what came in pieces before. */
function isAdded({ type }: { readonly [name: string]: unknown }): (text: ItemText) => boolean {
  return ({ isWhole }) => !isWhole || type === "response.output_item.added";
}

function pieceOf({ place, text }: ItemText) {
  return { place, text, mediaTokens: 0 };
}
