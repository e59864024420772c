// The headers that every answer of the HTTP port has, whatever it is: no cache keeps it, no browser guesses its type, takes it for a
// page or shows it in a frame, its address goes nowhere else. A route that knows better, such as one of a page, sets a header of the
// same name itself. Pages of other sites may read `/v1/*` (cors.ts); their answers say so.

import type { IncomingMessage, ServerResponse } from "node:http";
import { CORS_HEADERS, isOpenToPages } from "./cors.ts";

/** Header names in lower case with their values. */
export type HeaderLines = Readonly<Record<string, string>>;

export type AnswerHeaders = {
  /** The headers of an answer to this request. */
  of(request: IncomingMessage): HeaderLines;
  /** The headers of an answer to what never became a request. */
  readonly common: HeaderLines;
};

const A_YEAR_SECONDS = 31_536_000;
/** What is no page runs nothing, loads nothing and has no origin, should a browser open it all the same. */
const NO_PAGE = "default-src 'none'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'; sandbox";

/** Makes the headers. Where people reach us over https, browsers are told to come to it, and to the hosts below it, over nothing else. */
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

/** Puts the headers on a response; what is set later under the same name replaces them. */
export function setAnswerHeaders(response: ServerResponse, lines: HeaderLines): void {
  for (const name in lines) response.setHeader(name, lines[name] ?? "");
}
