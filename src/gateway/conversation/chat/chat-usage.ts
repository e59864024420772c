import type { AnswerUsage } from "../answer-events.ts";

/** The billed usage in chat's form, as a route that speaks chat shows it (`formats/chat/billed-chat.ts`). */
export function chatUsage({ input, cached, written, written1h, output, reasoning, costIdr }: AnswerUsage): object {
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: {
      cached_tokens: cached,
      ...(written + written1h === 0 ? {} : { cache_write_tokens: written + written1h }),
      ...(written1h === 0 ? {} : { cache_write_1h_tokens: written1h }),
    },
    ...(reasoning === 0 ? {} : { completion_tokens_details: { reasoning_tokens: reasoning } }),
    cost_idr: costIdr,
  };
}
