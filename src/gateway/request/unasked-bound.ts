// The bound on the output where the client named none: as much as the model writes, unless the input leaves less room.

import type { ChatRequest } from "./read-request.ts";

/** Bytes per token of English prose and most code. */
const LIKELY_ASCII_BYTES_PER_TOKEN = 4;
const LIKELY_OTHER_BYTES_PER_TOKEN = 2;
/** Less is never asked for: a text that seems to fill the window may be one of few tokens. */
const LEAST_ASKED_TOKENS = 1_024;

/**
 * The most tokens of output that are asked for beside an input that is not counted yet. Several upstreams (vLLM, DeepSeek,
 * older models of OpenAI) refuse a request whose input and bound together exceed the context window. The bound is the larger
 * of two numbers: what surely fits beside the highest estimate of the input, and half of what probably fits. The half allows
 * for a tokenizer that makes more tokens. `highest` includes `ofMedia`, the tokens held for pictures, sound and video.
 */
export function unaskedBound(
  bytes: Pick<ChatRequest, "asciiBytes" | "otherBytes">,
  { contextLength, highest, ofMedia }: { contextLength: number; highest: number; ofMedia: number },
): number {
  const likely = ofMedia + likelyTokens(bytes);
  const room = Math.max(contextLength - highest, Math.floor((contextLength - likely) / 2));
  return Math.max(room, LEAST_ASKED_TOKENS);
}

/** About how many tokens a text of so many bytes has. */
export function likelyTokens({ asciiBytes, otherBytes }: Pick<ChatRequest, "asciiBytes" | "otherBytes">): number {
  return Math.ceil(asciiBytes / LIKELY_ASCII_BYTES_PER_TOKEN + otherBytes / LIKELY_OTHER_BYTES_PER_TOKEN);
}
