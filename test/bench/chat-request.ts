// The request of every load: the same bytes for every target, rendered once before the clock starts.

import { agentChatBody, agentMessagesBody, agentResponsesBody } from "./agent-request.ts";

/** The paths that every target serves. */
export const CHAT_PATH = "/v1/chat/completions";
export const MESSAGES_PATH = "/v1/messages";
export const RESPONSES_PATH = "/v1/responses";

/** The catalog id that requests ask for, and those whose upstreams speak Messages and Responses. */
export const MODEL_ID = "bench/large";
export const MESSAGES_MODEL_ID = "bench/messages";
export const RESPONSES_MODEL_ID = "bench/responses";

/**
 * What a load asks: a short chat, an agent's request as chat, or the same as Messages or Responses. `messages` and `responses` go to
 * upstreams as they are, and `translated`, which is Messages, to one that speaks chat.
 */
export type RequestKind = "chat" | "agent" | "messages" | "responses" | "translated";

/** The path and the body of a kind. `bodyKb` lengthens a short chat. */
export function requestOf(
  kind: RequestKind,
  { stream, bodyKb }: { readonly stream: boolean; readonly bodyKb: number },
): { readonly path: string; readonly body: string } {
  if (kind === "chat") return { path: CHAT_PATH, body: chatBody({ stream, bodyKb }) };
  if (kind === "agent") return { path: CHAT_PATH, body: JSON.stringify(agentChatBody({ model: MODEL_ID, stream })) };
  if (kind === "responses") {
    return { path: RESPONSES_PATH, body: JSON.stringify(agentResponsesBody({ model: RESPONSES_MODEL_ID, stream })) };
  }
  const model = kind === "messages" ? MESSAGES_MODEL_ID : MODEL_ID;
  return { path: MESSAGES_PATH, body: JSON.stringify(agentMessagesBody({ model, stream })) };
}

// Long enough that the input tokens which the mock upstream reports are physically possible.
const SENTENCE = "Explain in plain words how money set aside for a request is captured and the rest given back. ";

/** The JSON text of a chat request. `bodyKb` adds one message of about so many kilobytes. */
function chatBody({ stream, bodyKb }: { stream: boolean; bodyKb: number }): string {
  const messages = [
    { role: "system", content: "You answer briefly." },
    { role: "user", content: SENTENCE.repeat(3) },
    { role: "assistant", content: SENTENCE.repeat(2) },
    { role: "user", content: SENTENCE.repeat(2) },
  ];
  if (bodyKb > 0) {
    const line = `${SENTENCE}It "quotes", and it breaks lines.\n`;
    messages.splice(1, 0, { role: "user", content: line.repeat(Math.ceil((bodyKb * 1024) / line.length)) });
  }
  const common = { model: MODEL_ID, messages, max_tokens: 512, temperature: 0.7, stream };
  return JSON.stringify(stream ? { ...common, stream_options: { include_usage: true } } : common);
}

/** One request as it goes onto the wire; the body is shared by all keys. */
export type RenderedRequest = { readonly head: Buffer; readonly body: Buffer | null };

// Above this size head and body are written separately, so that a thousand keys do not need a thousand copies of the
// body.
const WHOLE_REQUEST_BYTES = 8192;

/** Renders one request per key and hands them out in turn, starting anywhere. */
export function rotateRequests(options: {
  readonly origin: URL;
  readonly keys: readonly string[];
  readonly path: string;
  readonly body: string;
}): () => RenderedRequest {
  const body = Buffer.from(options.body);
  const requests = options.keys.map((key): RenderedRequest => {
    const head = Buffer.from(
      `POST ${options.path} HTTP/1.1\r\nHost: ${options.origin.host}\r\nContent-Type: application/json\r\n` +
        `Authorization: Bearer ${key}\r\nContent-Length: ${body.length}\r\n\r\n`,
    );
    return body.length <= WHOLE_REQUEST_BYTES ? { head: Buffer.concat([head, body]), body: null } : { head, body };
  });
  let turn = Math.floor(Math.random() * requests.length);
  return () => {
    turn = turn + 1 < requests.length ? turn + 1 : 0;
    const request = requests[turn];
    if (request === undefined) throw new Error("a load needs at least one key");
    return request;
  };
}
