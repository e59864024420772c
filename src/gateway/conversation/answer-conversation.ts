// Answers a request of another protocol than chat: it is written as a chat request, answered and billed as one, and its answer is
// written in its own protocol.

import type { Keys } from "../../keys/keys.ts";
import { countLargeRefusal } from "../admission/count-large-refusal.ts";
import type { ChatCall, ChatOutcome, Gateway } from "../chat.ts";
import { countNonAscii } from "../request/count-bytes.ts";
import type { JsonObject } from "../request/field-rules.ts";
import { likelyTokens } from "../request/unasked-bound.ts";
import { chatRequestOf } from "./chat/write-chat-request.ts";
import type { Conversation, Part } from "./conversation.ts";
import type { ClientProtocol, ProtocolRequest } from "./protocol.ts";
import { type ProtocolOutput, TranslatedSink } from "./translated-sink.ts";

export type ConversationDeps = {
  readonly gateway: Gateway;
  readonly protocol: ClientProtocol;
  readonly keys: Pick<Keys, "takeSlot">;
};

/** Errors: those of Gateway.answerChat. */
export async function answerConversation(
  { gateway, protocol, keys }: ConversationDeps,
  call: ChatCall,
  output: ProtocolOutput,
): Promise<ChatOutcome> {
  let request: ProtocolRequest;
  let json: JsonObject;
  try {
    request = protocol.read(call.body);
    json = chatRequestOf(await withoutVainEffort(gateway, request.conversation));
  } catch (error) {
    await countLargeRefusal(keys, call, error);
    throw error;
  }
  const body = Buffer.from(JSON.stringify(json));
  const inputTokens = estimatedInput(body, request.conversation);
  const { conversation, native = null } = request;
  const client = { protocol: protocol.name, body: call.body, conversation, native };
  const sink = new TranslatedSink({ protocol: protocol.name, request, requestId: call.requestId, inputTokens, output });
  return gateway.answerChat({ ...call, body, json, client }, sink);
}

/** Coding agents always send an effort, and most upstreams refuse it for a model that does not think. */
async function withoutVainEffort(gateway: Gateway, conversation: Conversation): Promise<Conversation> {
  if (conversation.effort === null || (await gateway.takesEffort?.(conversation.model)) === true) return conversation;
  return { ...conversation, effort: null };
}

/** By its bytes, without media. */
function estimatedInput(body: Buffer, { turns }: Conversation): number {
  const dataBytes = turns.flatMap(({ parts }) => parts).reduce((bytes, part) => bytes + dataBytesOf(part), 0);
  const otherBytes = countNonAscii(body);
  return likelyTokens({ asciiBytes: Math.max(0, body.length - otherBytes - dataBytes), otherBytes });
}

function dataBytesOf(part: Part): number {
  if (part.kind === "result") return part.parts.reduce((bytes, each) => bytes + dataBytesOf(each), 0);
  if (part.kind === "image") return part.source.kind === "data" ? part.source.data.length : 0;
  return part.kind === "audio" || part.kind === "document" ? part.data.length : 0;
}
