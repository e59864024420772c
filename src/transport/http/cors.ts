// What pages of other sites may do: call `/v1/*` with a key of their user's, as browser clients of the OpenAI API do. They are
// allowed no credentials, so a browser sends no cookie with such a call, and same-origin.ts counts none that comes across sites.

import type { IncomingMessage } from "node:http";

const OPEN_PREFIX = "/v1/";
/** How long a browser may remember the answer to a preflight. Chromium remembers none for longer. */
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

/** The names that older browsers look for. The asterisk stands for all but `authorization`, where a browser knows it. */
const ALLOWED_HEADERS = [
  "authorization",
  "content-type",
  "idempotency-key",
  "x-request-id",
  "x-saldo-error-format",
  "openai-beta",
  "openai-organization",
  "openai-project",
  ...STAINLESS_HEADERS,
  "*",
].join(", ");

const EXPOSED_HEADERS = [
  "x-request-id",
  "retry-after",
  "x-should-retry",
  "ratelimit",
  "ratelimit-policy",
  "x-ratelimit-limit-requests",
  "x-ratelimit-remaining-requests",
  "x-ratelimit-reset-requests",
  "x-saldo-cost-idr",
  "x-saldo-demo",
  "x-saldo-replayed",
  "x-saldo-answered-request",
].join(", ");

/** What every answer under `/v1/` says to a page that asks. */
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

/** The answer to a preflight at a path that takes these verbs. */
export function preflightHeaders(verbs: readonly string[]): Record<string, string> {
  return {
    "access-control-allow-methods": verbs.join(", "),
    "access-control-allow-headers": ALLOWED_HEADERS,
    "access-control-max-age": String(MAX_AGE_SECONDS),
  };
}
