// A question in Google's Gemini API.

import { fromJson, type JsonObject } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import {
  type GenerateContentResponse,
  GenerateContentRequestSchema,
  GeminiService,
  type StreamGenerateContentResponse,
} from "#gen/saldo/gateway/v1/gemini_service_pb.ts";
import { transport } from "../../api/transport.ts";
import type { SnippetRequest } from "../../snippets/code.ts";
import { geminiBody } from "../../snippets/gemini-code.ts";
import { type Piece, requestIdOf, withoutLimit } from "./piece.ts";

const service = createClient(GeminiService, transport);

/** Sends it, and returns the pieces of the answer. */
export async function* send(request: SnippetRequest, signal: AbortSignal): AsyncGenerator<Piece> {
  // The same body as the code shows; the model is in the address there.
  const named = { ...geminiBody(request), model: request.model } as unknown as JsonObject;
  const body = fromJson(GenerateContentRequestSchema, named);
  const options = withoutLimit(signal);
  if (request.stream !== true) yield pieceOf(await service.generateContent(body, options));
  else for await (const chunk of service.streamGenerateContent(body, options)) yield pieceOf(chunk);
}

/** The piece that an answer, or a part of one, is. */
export function pieceOf(answer: GenerateContentResponse | StreamGenerateContentResponse): Piece {
  const { responseId, candidates, usageMetadata: usage } = answer;
  const [candidate] = candidates;
  const parts = candidate?.content?.parts ?? [];
  const textOf = (isThought: boolean) =>
    parts
      .map(({ text, thought }) => (typeof text === "string" && (thought === true) === isThought ? text : ""))
      .join("");
  const reason = candidate?.finishReason;
  return {
    ...(responseId === "" ? {} : { requestId: requestIdOf(responseId) }),
    text: textOf(false),
    reasoning: textOf(true),
    ...(reason === undefined || reason === "" ? {} : { isCutShort: reason === "MAX_TOKENS" }),
    // A stream counts in every part of it; the cost is in the last one.
    ...(usage === undefined || usage.costIdr === ""
      ? {}
      : {
          counts: {
            input: usage.promptTokenCount,
            cached: usage.cachedContentTokenCount,
            output: usage.candidatesTokenCount + usage.thoughtsTokenCount,
            costIdr: usage.costIdr,
          },
        }),
  };
}
