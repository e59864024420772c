import type { UpstreamKind } from "../../catalog/catalog-model.ts";
import type { AnswerFormat } from "./answer-format.ts";
import { CHAT_FORMAT } from "./chat/chat-format.ts";
import { GEMINI_FORMAT } from "./gemini/gemini-format.ts";
import { MESSAGES_FORMAT } from "./messages/messages-format.ts";
import type { ProtocolName } from "./protocol-name.ts";
import { RESPONSES_FORMAT } from "./responses/responses-format.ts";

const PROTOCOLS: Readonly<Record<UpstreamKind, ProtocolName>> = {
  demo: "chat",
  "openai-compatible": "chat",
  anthropic: "messages",
  "openai-responses": "responses",
  gemini: "gemini",
};

const FORMATS: Readonly<Record<ProtocolName, AnswerFormat>> = {
  chat: CHAT_FORMAT,
  messages: MESSAGES_FORMAT,
  responses: RESPONSES_FORMAT,
  gemini: GEMINI_FORMAT,
};

/** The protocol in which an upstream of a kind is asked, and answers. */
export function protocolOf(kind: UpstreamKind): ProtocolName {
  return PROTOCOLS[kind];
}

/** The format in which upstreams of a kind answer. */
export function formatOf(kind: UpstreamKind): AnswerFormat {
  return FORMATS[protocolOf(kind)];
}

/** The format of a protocol; null: this version does not know it. */
export function formatNamed(protocol: string): AnswerFormat | null {
  return Object.values(FORMATS).find((format) => format.protocol === protocol) ?? null;
}
