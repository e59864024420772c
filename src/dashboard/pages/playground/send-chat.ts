// A question in OpenAI's Chat Completions.

import { createClient } from "@connectrpc/connect";
import { GatewayService } from "#gen/saldo/gateway/v1/gateway_service_pb.ts";
import { transport } from "../../api/transport.ts";
import type { SnippetRequest } from "../../snippets/code.ts";
import { pieceOf, pieceOfWhole } from "./chat-pieces.ts";
import { type Piece, withoutLimit } from "./piece.ts";

const gateway = createClient(GatewayService, transport);

/** Sends it, and returns the pieces of the answer. */
export async function* send(
  { model, messages, temperature, maxTokens, stream }: SnippetRequest,
  signal: AbortSignal,
): AsyncGenerator<Piece> {
  const request = {
    model,
    messages: messages.map(({ role, content }) => ({ role, content })),
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
  };
  const options = withoutLimit(signal);
  if (stream !== true) yield pieceOfWhole(await gateway.createChatCompletion(request, options));
  else for await (const chunk of gateway.streamChatCompletion(request, options)) yield pieceOf(chunk);
}
