// The senders of the formats. Those beside chat are fetched when they are used.

import type { SnippetRequest } from "../../snippets/code.ts";
import { EMBEDDINGS, type Piece, type Send } from "./piece.ts";
import { send as sendChat } from "./send-chat.ts";

const SENDERS: Readonly<Record<string, () => Promise<{ readonly send: Send }>>> = {
  messages: () => import("./send-messages.ts"),
  responses: () => import("./send-responses.ts"),
  gemini: () => import("./send-gemini.ts"),
  [EMBEDDINGS]: () => import("./send-embeddings.ts"),
};

/** Sends a request in a format, and returns its answer piece by piece. */
export async function* sendIn(format: string, request: SnippetRequest, signal: AbortSignal): AsyncGenerator<Piece> {
  const load = SENDERS[format];
  const send = load === undefined ? sendChat : (await load()).send;
  yield* send(request, signal);
}
