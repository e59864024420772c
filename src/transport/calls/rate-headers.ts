// The headers of a key's window, by the custom of OpenAI and by the IETF's draft.

import type { RateState } from "../../kernel/rate.ts";

const WINDOW_SECONDS = 60;

/** The header names and values of a window; none for a key without a limit. */
export function rateHeaders(rate: RateState): Record<string, string> {
  if (rate.limit === 0) return {};
  return {
    "x-ratelimit-limit-requests": String(rate.limit),
    "x-ratelimit-remaining-requests": String(rate.remaining),
    "x-ratelimit-reset-requests": `${rate.resetSeconds}s`,
    "ratelimit-policy": `"key";q=${rate.limit};w=${WINDOW_SECONDS}`,
    ratelimit: `"key";r=${rate.remaining};t=${rate.resetSeconds}`,
  };
}
