// What the hold of a request needs beside its chat form, at the dearest of the routes that may answer it.

import type { ClientRequest } from "../conversation/client-request.ts";
import { hasDenseTokenizer } from "../conversation/messages/claude-counts.ts";
import { protocolOf } from "../formats/formats.ts";
import type { ChatRequest } from "../request/read-request.ts";
import type { OpenRoute } from "../upstreams/upstreams.ts";
import { documentsOf, heldDocuments, NO_DOCUMENTS } from "./held-documents.ts";
import type { HoldAdditions } from "./hold.ts";

/** The prompt that Anthropic puts before tools, and charges for: up to 804 tokens of it are known. */
const TOOLS_PROMPT_TOKENS = 1_024;

/**
 * Anthropic's newest models make about 1.44 tokens of one of OpenAI's. The hold of most texts has so many anyway, since it has room for
 * the densest ones; this is for those.
 */
const DENSE_TOKENS_PER_TOKEN = 1.2;

/** The call and its result. */
const LEAST_MESSAGES_WITH_A_CALL = 2;

/** The additions of a request. `client`: its form in its client's own protocol, null where that is chat. */
export function holdAdditions(
  request: ChatRequest,
  client: ClientRequest | null,
  routes: readonly OpenRoute[],
): HoldAdditions {
  const protocols = new Set(routes.map(({ upstream }) => protocolOf(upstream.kind)));
  const leavesChat = [...protocols].some((protocol) => protocol !== "chat");
  const native = client !== null && protocols.has(client.protocol) ? client.native : null;
  const documents = client === null ? NO_DOCUMENTS : heldDocuments(documentsOf(client.conversation));
  return {
    documents,
    readers: routes.map(({ upstream, model }) => ({ protocol: protocolOf(upstream.kind), model })),
    pictureTokens: native?.pictureTokens ?? null,
    perToken: routes.some(({ model }) => hasDenseTokenizer(model)) ? DENSE_TOKENS_PER_TOKEN : 1,
    inputTokens:
      (protocols.has("messages") && mayHaveTools(request, client) ? TOOLS_PROMPT_TOKENS : 0) +
      (native?.unseenTokens ?? 0),
    // The chat form has no thoughts of earlier turns. An upstream that made them reads them, and charges for them.
    bytes:
      leavesChat && client !== null ? Math.max(0, client.body.length - documents.characters - request.body.length) : 0,
    writesForLong: native?.cacheWrites === "long",
    thoughtBudget: native?.thoughtBudget ?? 0,
    thinksUnseen:
      protocols.has("responses") ||
      protocols.has("gemini") ||
      (protocols.has("messages") && (native?.thinks === true || thinks(request, client))),
  };
}

/** Calls of earlier turns are sent with their tools, also where the client sends no tools. */
function mayHaveTools(request: ChatRequest, client: ClientRequest | null): boolean {
  if (request.messageCount >= LEAST_MESSAGES_WITH_A_CALL) return true;
  return client === null ? request.members.has("tools") : client.conversation.tools.length > 0;
}

/** Anthropic's models think where they are asked to; those that always do are marked in the catalog. */
function thinks(request: ChatRequest, client: ClientRequest | null): boolean {
  // The members of a form that was written here are found by a scan, so they are not asked for.
  if (client === null) return ["reasoning_effort", "reasoning", "thinking"].some((name) => request.members.has(name));
  const { effort } = client.conversation;
  return effort !== null && effort !== "none";
}
