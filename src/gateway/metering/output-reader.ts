import type { JsonObject } from "../request/field-rules.ts";

/** The output in an event or a whole answer: its text, and the tokens of its sound and pictures, which the text stands for too. */
export type OutputPiece = {
  /** The answer or the block that it belongs to: text of one is counted together. */
  readonly place: unknown;
  readonly text: string;
  readonly mediaTokens: number;
};

/** Finds what a model wrote in the JSON of its protocol. */
export interface OutputReader {
  /** The output that an event of a stream adds; none where it repeats what came before. */
  piecesOfEvent(event: JsonObject): readonly OutputPiece[];
  piecesOfAnswer(answer: JsonObject): readonly OutputPiece[];
}
