// A question in Anthropic's Messages.

import { fromJson, type JsonObject } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import {
  MessageRequestSchema,
  MessagesService,
  type MessageUsage,
  type StreamMessageResponse,
} from "#gen/saldo/gateway/v1/messages_service_pb.ts";
import { transport } from "../../api/transport.ts";
import type { SnippetRequest } from "../../snippets/code.ts";
import { messagesBody } from "../../snippets/messages-code.ts";
import { BrokenOff, type Counts, type Piece, requestIdOf, withoutLimit } from "./piece.ts";

const service = createClient(MessagesService, transport);

/** Sends it, and returns the pieces of the answer. */
export async function* send(request: SnippetRequest, signal: AbortSignal): AsyncGenerator<Piece> {
  // The same body as the code shows.
  const body = fromJson(MessageRequestSchema, messagesBody(request) as JsonObject);
  const options = withoutLimit(signal);
  if (request.stream === true) {
    for await (const event of service.streamMessage(body, options)) yield pieceOf(event);
    return;
  }
  const { id, content, stopReason, usage } = await service.createMessage(body, options);
  yield {
    requestId: requestIdOf(id),
    text: content.map(({ type, text }) => (type === "text" ? textOf(text) : "")).join(""),
    reasoning: content.map(({ type, thinking }) => (type === "thinking" ? textOf(thinking) : "")).join(""),
    isCutShort: stopReason === "max_tokens",
    ...(usage === undefined ? {} : { counts: countsOf(usage) }),
  };
}

/** The piece that an event is. Errors: BrokenOff. */
export function pieceOf({ type, message, delta, usage, error }: StreamMessageResponse): Piece {
  if (type === "error") throw new BrokenOff(textOf(error?.["message"]), error?.["type"] === "invalid_request_error");
  if (message !== undefined) return { requestId: requestIdOf(message.id) };
  const reason = delta?.["stop_reason"];
  return {
    text: textOf(delta?.["text"]),
    reasoning: textOf(delta?.["thinking"]),
    ...(typeof reason === "string" ? { isCutShort: reason === "max_tokens" } : {}),
    ...(usage === undefined ? {} : { counts: countsOf(usage) }),
  };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Messages count what is read from a cache, and written to it, apart from the input. */
function countsOf(usage: MessageUsage): Counts {
  const { inputTokens, cacheReadInputTokens: cached, cacheCreationInputTokens, outputTokens, costIdr } = usage;
  return {
    input: inputTokens + cached + cacheCreationInputTokens,
    cached,
    output: outputTokens,
    costIdr: costIdr ?? "",
  };
}
