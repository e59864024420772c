// The rights of pages of other sites: they may call `/v1/*` with an API key of their user, like browser clients of the OpenAI API.
// Credentials are not allowed, so a browser sends no cookie with such a call, and same-origin.ts ignores cookies from other sites.

import type { IncomingMessage } from "node:http";

const OPEN_PREFIX = "/v1/";
/** How long a browser may cache the answer to a preflight. Chromium caches none for longer. */
const MAX_AGE_SECONDS = 7_200;

/** Client libraries made by Stainless, such as OpenAI's, describe themselves in these. */
const STAINLESS_HEADERS = [
  "arch",
  "async",
  "custom-poll-interval",
  "helper-method",
  "lang",
  "os",
  "package-version",
  "poll-helper",
  "read-timeout",
  "retry-count",
  "runtime",
  "runtime-version",
  "timeout",
].map((name) => `x-stainless-${name}`);

/** The header names for older browsers. In newer ones the asterisk means all names but `authorization`. */
const ALLOWED_HEADERS = [
  "authorization",
  "content-type",
  "idempotency-key",
  "x-request-id",
  "x-saldo-error-format",
  "openai-beta",
  "openai-organization",
  "openai-project",
  "x-api-key",
  "anthropic-version",
  "anthropic-beta",
  "x-goog-api-key",
  "x-goog-api-client",
  ...STAINLESS_HEADERS,
  "*",
].join(", ");

const EXPOSED_HEADERS = [
  "x-request-id",
  "request-id",
  "retry-after",
  "x-should-retry",
  "ratelimit",
  "ratelimit-policy",
  "x-ratelimit-limit-requests",
  "x-ratelimit-remaining-requests",
  "x-ratelimit-reset-requests",
  "x-ratelimit-limit-tokens",
  "x-ratelimit-remaining-tokens",
  "x-ratelimit-reset-tokens",
  "x-saldo-cost-idr",
  "x-saldo-demo",
  "x-saldo-replayed",
  "x-saldo-answered-request",
].join(", ");

/** The CORS headers of every answer under `/v1/`. */
export const CORS_HEADERS = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": EXPOSED_HEADERS,
} as const;

/** Whether pages of other sites may call an address. */
export function isOpenToPages(url: string): boolean {
  return url.startsWith(OPEN_PREFIX);
}

/** Whether a browser asks if its page may send a request to an address that is open to pages. */
export function isPreflight({ method, url, headers }: IncomingMessage): boolean {
  return (
    method === "OPTIONS" &&
    headers.origin !== undefined &&
    headers["access-control-request-method"] !== undefined &&
    isOpenToPages(url ?? "")
  );
}

/** The headers of the answer to a preflight at a path with these verbs. */
export function preflightHeaders(verbs: readonly string[]): Record<string, string> {
  return {
    "access-control-allow-methods": verbs.join(", "),
    "access-control-allow-headers": ALLOWED_HEADERS,
    "access-control-max-age": String(MAX_AGE_SECONDS),
  };
}
