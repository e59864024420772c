// A text whose vector is asked for.

import { createClient } from "@connectrpc/connect";
import { EmbeddingsService } from "#gen/saldo/gateway/v1/embeddings_service_pb.ts";
import { transport } from "../../api/transport.ts";
import type { SnippetRequest } from "../../snippets/code.ts";
import { type Piece, withoutLimit } from "./piece.ts";

const service = createClient(EmbeddingsService, transport);

/** So many numbers of a vector are shown. */
const SHOWN_NUMBERS = 8;

/** Sends the question as the text, and returns the beginning of its vector. */
export async function* send({ model, messages }: SnippetRequest, signal: AbortSignal): AsyncGenerator<Piece> {
  const input = messages.slice(-1).map(({ content }) => content);
  let requestId = "";
  const onHeader = (headers: Headers) => (requestId = headers.get("x-request-id") ?? "");
  const { data, usage } = await service.createEmbeddings({ model, input }, { ...withoutLimit(signal), onHeader });
  yield {
    requestId,
    text: vectorText(data[0]?.embedding ?? []),
    ...(usage === undefined
      ? {}
      : { counts: { input: usage.promptTokens, cached: 0, output: 0, costIdr: usage.costIdr ?? "" } }),
  };
}

/** `[0.0123, -0.4, …] × 256` */
export function vectorText(vector: readonly number[]): string {
  const numbers = vector.slice(0, SHOWN_NUMBERS).map((value) => String(Number(value.toPrecision(4))));
  const more = vector.length > SHOWN_NUMBERS ? ["…"] : [];
  return `[${[...numbers, ...more].join(", ")}] × ${vector.length}`;
}
