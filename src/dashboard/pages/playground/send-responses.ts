// A question in OpenAI's Responses.

import { fromJson, type JsonObject, type JsonValue } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import {
  CreateResponseResponseSchema,
  type CreateResponseResponse,
  ResponseRequestSchema,
  ResponsesService,
  type StreamResponseResponse,
} from "#gen/saldo/gateway/v1/responses_service_pb.ts";
import { transport } from "../../api/transport.ts";
import type { SnippetRequest } from "../../snippets/code.ts";
import { responsesBody } from "../../snippets/responses-code.ts";
import { BrokenOff, type Piece, requestIdOf, withoutLimit } from "./piece.ts";

const service = createClient(ResponsesService, transport);

/** Sends it, and returns the pieces of the answer. */
export async function* send(request: SnippetRequest, signal: AbortSignal): AsyncGenerator<Piece> {
  // The same body as the code shows.
  const body = fromJson(ResponseRequestSchema, responsesBody(request) as unknown as JsonObject);
  const options = withoutLimit(signal);
  if (request.stream === true) {
    for await (const event of service.streamResponse(body, options)) yield pieceOf(event);
    return;
  }
  const answer = await service.createResponse(body, options);
  yield { ...endOf(answer), text: partsOf(answer, "content"), reasoning: partsOf(answer, "summary") };
}

/** The piece that an event is. Errors: BrokenOff. */
export function pieceOf({ type, event }: StreamResponseResponse): Piece {
  const delta = textOf(event?.["delta"]);
  switch (type) {
    case "response.output_text.delta":
    case "response.refusal.delta":
      return { text: delta };
    case "response.reasoning_summary_text.delta":
    case "response.reasoning_text.delta":
      return { reasoning: delta };
    case "error":
      throw brokenOff(event);
    case "response.failed":
      throw brokenOff(memberOf(event?.["response"], "error"));
    case "response.created":
    case "response.completed":
    case "response.incomplete": {
      const response = event?.["response"] ?? {};
      return endOf(fromJson(CreateResponseResponseSchema, response, { ignoreUnknownFields: true }));
    }
    default:
      return {};
  }
}

/** Codes of an error that a request itself has caused. */
const REFUSED: ReadonlySet<string> = new Set(["invalid_prompt", "context_length_exceeded"]);

function brokenOff(error: JsonValue | undefined): BrokenOff {
  return new BrokenOff(textOf(memberOf(error, "message")), REFUSED.has(textOf(memberOf(error, "code"))));
}

function endOf({ id, status, incompleteDetails, usage }: CreateResponseResponse): Piece {
  return {
    requestId: requestIdOf(id),
    isCutShort: status === "incomplete" && incompleteDetails?.["reason"] === "max_output_tokens",
    ...(usage === undefined
      ? {}
      : {
          counts: {
            input: usage.inputTokens,
            cached: usage.inputTokensDetails?.cachedTokens ?? 0,
            output: usage.outputTokens,
            costIdr: usage.costIdr,
          },
        }),
  };
}

/** The texts of an answer's items, of their content or of their summary. */
function partsOf({ output }: CreateResponseResponse, member: "content" | "summary"): string {
  const parts = output.flatMap((item) => (Array.isArray(item[member]) ? item[member] : []));
  return parts.map((part) => textOf(memberOf(part, "text")) + textOf(memberOf(part, "refusal"))).join("");
}

function memberOf(value: JsonValue | undefined, name: string): JsonValue | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value[name] : undefined;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
