// The pieces of an answer in Chat Completions.

import type { Usage } from "#gen/saldo/gateway/v1/chat_pb.ts";
import type {
  CreateChatCompletionResponse,
  StreamChatCompletionResponse,
} from "#gen/saldo/gateway/v1/gateway_service_pb.ts";
import { type Counts, type Piece, requestIdOf } from "./piece.ts";

/** The piece that a chunk is. */
export function pieceOf({ id, choices, usage }: StreamChatCompletionResponse): Piece {
  const [choice] = choices;
  return {
    requestId: requestIdOf(id),
    text: (choice?.delta?.content ?? "") + (choice?.delta?.refusal ?? ""),
    reasoning: choice?.delta?.reasoningContent ?? "",
    ...endOf(choice?.finishReason),
    ...(usage === undefined ? {} : { counts: countsOf(usage) }),
  };
}

/** A whole answer as one piece. */
export function pieceOfWhole({ id, choices, usage }: CreateChatCompletionResponse): Piece {
  const [choice] = choices;
  return {
    requestId: requestIdOf(id),
    text: choice?.message?.content ?? choice?.message?.refusal ?? "",
    reasoning: choice?.message?.reasoningContent ?? "",
    ...endOf(choice?.finishReason),
    ...(usage === undefined ? {} : { counts: countsOf(usage) }),
  };
}

function endOf(reason: string | undefined): Pick<Piece, "isCutShort"> {
  return reason === undefined || reason === "" ? {} : { isCutShort: reason === "length" };
}

function countsOf({ promptTokens, promptTokensDetails, completionTokens, costIdr }: Usage): Counts {
  const cached = promptTokensDetails?.cachedTokens ?? 0;
  return { input: promptTokens, cached, output: completionTokens, costIdr: costIdr ?? "" };
}
