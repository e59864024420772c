// The headers of every answer of the HTTP port: no cache keeps it, no browser guesses its type, takes it for a page or shows it
// in a frame, and its address is not sent as a referrer. A route with other needs, such as one of a page, sets a header of the
// same name itself. Pages of other sites may read `/v1/*` (cors.ts), which has headers for that.

import type { IncomingMessage, ServerResponse } from "node:http";
import { CORS_HEADERS, isOpenToPages } from "./cors.ts";

/** Header names in lower case with their values. */
export type HeaderLines = Readonly<Record<string, string>>;

export type AnswerHeaders = {
  /** The headers of an answer to this request. */
  of(request: IncomingMessage): HeaderLines;
  /** The headers of an answer to bytes that are no request. */
  readonly common: HeaderLines;
};

const A_YEAR_SECONDS = 31_536_000;
/** An answer that is no page runs nothing, loads nothing and has no origin, even where a browser opens it. */
const NO_PAGE = "default-src 'none'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'; sandbox";

/** Makes the headers. With a public https address browsers must use https alone for it and for the hosts below it. */
export function createAnswerHeaders(publicUrl: string | null, { isEncrypted = false } = {}): AnswerHeaders {
  const common: HeaderLines = {
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "content-security-policy": NO_PAGE,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    vary: "authorization, cookie, origin",
    ...(isEncrypted || publicUrl?.startsWith("https:") === true
      ? { "strict-transport-security": `max-age=${A_YEAR_SECONDS}; includeSubDomains` }
      : {}),
  };
  const toPages: HeaderLines = { ...common, ...CORS_HEADERS };
  return {
    common,
    of: (request) => (request.headers.origin !== undefined && isOpenToPages(request.url ?? "") ? toPages : common),
  };
}

/** Sets the headers of a response; a later header of the same name replaces one of them. */
export function setAnswerHeaders(response: ServerResponse, lines: HeaderLines): void {
  for (const name in lines) response.setHeader(name, lines[name] ?? "");
}
