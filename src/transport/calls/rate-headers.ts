// The headers of a key's window, by the custom of OpenAI and by the IETF's draft.

import type { RateState, TokenRate } from "../../kernel/rate.ts";

const WINDOW_SECONDS = 60;

/** The header names and values of a key's windows; none for a key without limits. */
export function rateHeaders(rate: RateState): Record<string, string> {
  return { ...requestHeaders(rate), ...(rate.tokens === undefined ? {} : tokenHeaders(rate.tokens)) };
}

/** The tokens of an answer count for a minute after it, so that is when all are free again. */
export function tokenHeaders({ limit, remaining }: TokenRate): Record<string, string> {
  return {
    "x-ratelimit-limit-tokens": String(limit),
    "x-ratelimit-remaining-tokens": String(remaining),
    "x-ratelimit-reset-tokens": `${WINDOW_SECONDS}s`,
  };
}

function requestHeaders(rate: RateState): Record<string, string> {
  if (rate.limit === 0) return {};
  return {
    "x-ratelimit-limit-requests": String(rate.limit),
    "x-ratelimit-remaining-requests": String(rate.remaining),
    "x-ratelimit-reset-requests": `${rate.resetSeconds}s`,
    "ratelimit-policy": `"key";q=${rate.limit};w=${WINDOW_SECONDS}`,
    ratelimit: `"key";r=${rate.remaining};t=${rate.resetSeconds}`,
  };
}
