import { GeminiAnswerReader } from "../../conversation/gemini/read-gemini-answer.ts";
import { GEMINI_USAGE } from "../../metering/gemini-usage.ts";
import { TOKENS_OF_A_PICTURE } from "../../metering/output-text.ts";
import type { JsonObject } from "../../request/field-rules.ts";
import { dataOf, splitEvents } from "../../stream/sse.ts";
import type { AnswerFormat } from "../answer-format.ts";
import { billedGemini } from "./billed-gemini.ts";
import { isMedia, outputPartsOf, textOfPiece } from "./candidate-text.ts";
import { GeminiStream } from "./gemini-stream.ts";
import { failureOfGemini } from "./read-piece.ts";
import { readWholeGemini } from "./whole-gemini.ts";

/** The answers of Google's Gemini API. A whole one has the form of a piece. */
export const GEMINI_FORMAT: AnswerFormat = {
  protocol: "gemini",
  idOf: (requestId) => requestId,
  openStream: (facts) => new GeminiStream(facts),
  failureOf: failureOfGemini,
  readWhole: readWholeGemini,
  writeWhole: billedGemini,
  piecesOfEvent: piecesOf,
  piecesOfAnswer: piecesOf,
  ...GEMINI_USAGE,
  chunksIn: (bytes) => splitEvents(bytes).flatMap((event) => dataOf(event) ?? []),
  openReader: (origin) => new GeminiAnswerReader(origin),
};

function piecesOf(piece: JsonObject) {
  const media = outputPartsOf(piece).filter(isMedia).length;
  return [{ place: 0, text: textOfPiece(piece), mediaTokens: media * TOKENS_OF_A_PICTURE }];
}
