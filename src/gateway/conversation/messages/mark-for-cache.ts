// Marks in a request for the prompt cache. Clients of other protocols seldom send any, and without them every turn of a conversation
// is charged in full. Each mark makes Anthropic write what precedes it, which costs more than plain input once and far less after.

import type { CacheWrites } from "../../request/cache-marks.ts";
import type { Accepts } from "../../../catalog/catalog-model.ts";
import type { Conversation, Part } from "../conversation.ts";

/** The least that a model caches is some 1 000 tokens; a shorter prompt has nothing to mark. */
const LEAST_CHARACTERS = 4_096;
/** More are refused. */
const MOST_MARKS = 4;

/** Something that takes a mark. */
type Markable = { cache_control?: object };

export type MarkableParts = {
  readonly tools: readonly Markable[];
  readonly system: readonly Markable[];
  readonly messages: readonly { readonly role: string; readonly content: readonly Markable[] }[];
};

export type MarkFacts = {
  readonly conversation: Conversation;
  readonly facts: { readonly accepts: Accepts; readonly cacheWrites: CacheWrites };
};

/** Marks the end of the tools, of the instructions and of the last turn, unless the client has marks of its own. */
export function markForCache(parts: MarkableParts, { conversation, facts }: MarkFacts): void {
  const { tools, system, messages } = parts;
  const mayMark = facts.accepts.cacheMarkers && facts.cacheWrites !== "none";
  if (hasOwnMarks(conversation)) {
    keepMarks([...system, ...messages.flatMap(({ content }) => content)], mayMark ? facts.cacheWrites : "none");
  } else if (mayMark && JSON.stringify(parts).length >= LEAST_CHARACTERS) {
    const last = messages.findLast(({ role }) => role === "user");
    for (const part of [tools.at(-1), system.at(-1), last?.content.at(-1)]) {
      if (part !== undefined) part.cache_control = writtenMark("5m");
    }
  }
}

/** What asks for the prompt up to here to be cached. */
export function writtenMark(lifetime: "5m" | "1h"): object {
  return lifetime === "5m" ? { type: "ephemeral" } : { type: "ephemeral", ttl: lifetime };
}

function hasOwnMarks({ system, turns }: Conversation): boolean {
  const isMarked = (part: Part): boolean =>
    part.kind === "result" ? part.parts.some(isMarked) : part.kind === "text" && part.cacheMark !== undefined;
  return system.some(isMarked) || turns.some(({ parts }) => parts.some(isMarked));
}

/** The last marks of a client's, as far as they are held for. One for an hour behind one for minutes is refused, so it becomes such. */
function keepMarks(blocks: readonly Markable[], writes: CacheWrites): void {
  const marked = blocks.filter(({ cache_control: mark }) => mark !== undefined);
  const kept = writes === "none" ? [] : marked.slice(-MOST_MARKS);
  let mayBeLong = writes === "long";
  for (const block of marked) {
    const { cache_control: mark } = block;
    if (!kept.includes(block)) delete block.cache_control;
    else if (!mayBeLong || mark === undefined || !("ttl" in mark)) {
      mayBeLong = false;
      block.cache_control = writtenMark("5m");
    }
  }
}
