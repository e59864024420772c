// How much a model is asked to think. Newer models decide by themselves and take an effort; older ones take a budget, and demand
// that nothing else of the request contradicts it.

import type { Accepts } from "../../../catalog/catalog-model.ts";
import type { Conversation, Effort } from "../conversation.ts";

export type ThinkingFacts = {
  readonly accepts: Accepts;
  readonly outputBound: number;
  readonly messages: readonly ThoughtMessage[];
  /** Whether the answer goes on with a turn that was begun. */
  readonly isBegun: boolean;
};

/** The blocks of a message, of which a thought may be the first. */
export type ThoughtMessage = { readonly content: readonly { readonly type?: unknown }[] };

/** The member `thinking`, and the effort beside it where the model takes one. */
export type WrittenThinking = { readonly thinking: object; readonly effort?: Effort };

/** Budgets by effort. A budget beyond the last one is seldom used up. */
const BUDGETS: Readonly<Record<Exclude<Effort, "none" | "minimal">, number>> = {
  low: 2_048,
  medium: 8_192,
  high: 16_384,
  xhigh: 24_576,
  max: 32_768,
};
const LEAST_BUDGET = 1_024;

/** Null: the model is not asked to think. */
export function writtenThinking({ effort, toolChoice }: Conversation, facts: ThinkingFacts): WrittenThinking | null {
  const { accepts, outputBound, messages, isBegun } = facts;
  if (accepts.thinking === "none" || effort === null || effort === "none" || effort === "minimal") return null;
  if (isBegun) return null;
  // The default of the newest models shows none of it.
  if (accepts.thinking === "adaptive") return { thinking: { type: "adaptive", display: "summarized" }, effort };
  if (toolChoice?.kind === "any" || toolChoice?.kind === "tool" || !continuesThinking(messages)) return null;
  // A part of the bound is left for the answer.
  const budget = Math.min(BUDGETS[effort], Math.floor((outputBound * 3) / 4));
  return budget < LEAST_BUDGET ? null : { thinking: { type: "enabled", budget_tokens: budget } };
}

/** While tools are called, the turn that called them has to begin with its thought, which other providers' turns do not. */
function continuesThinking(messages: readonly ThoughtMessage[]): boolean {
  if (messages.at(-1)?.content.some(({ type }) => type === "tool_result") !== true) return true;
  const type = messages.at(-2)?.content[0]?.type;
  return type === "thinking" || type === "redacted_thinking";
}
