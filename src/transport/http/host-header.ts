// The host of a request. A request without one clear host is refused before any other code reads it: later code builds addresses
// from the host, and of two hosts a proxy in front may have read the other.

import type { IncomingMessage } from "node:http";
import { ValidationError } from "../../kernel/errors.ts";

const HOST = /^(\[[0-9a-f:.]{2,45}\]|[a-z0-9._-]{1,255})(:[0-9]{1,5})?$/i;
/** An address in absolute form, as clients send it to a proxy. */
const ABSOLUTE = /^https?:\/\/([^/?#]*)(.*)$/is;

/** The result for the last host: most requests have the host of the one before. */
let lastGoodHost: string | null = null;

/**
 * Finds the error in the host of a request; null: none. An address in absolute form with the same host is replaced by its path,
 * so that all later code reads one form.
 */
export function hostProblemOf(request: IncomingMessage): ValidationError | null {
  const host = request.headers.host;
  if (host === undefined) {
    // HTTP/1.0 has no such header.
    return request.httpVersionMinor === 0 && request.httpVersionMajor === 1
      ? relative(request, null)
      : problem(MISSING);
  }
  if (host !== lastGoodHost) {
    if (!isHost(host)) return problem(MALFORMED);
    lastGoodHost = host;
  }
  if (countOfHosts(request.rawHeaders) > 1) return problem(SEVERAL);
  return relative(request, host);
}

const SLASH = 47;
const MISSING = "is missing";
const MALFORMED = "must be a name or an address, and a port at most";
const SEVERAL = "must be sent once";
const OTHER = "must be the host of the request's address";

function relative(request: IncomingMessage, host: string | null): ValidationError | null {
  const url = request.url ?? "";
  if (url.charCodeAt(0) === SLASH) return null;
  const [, authority = "", rest = ""] = ABSOLUTE.exec(url) ?? [];
  // The router refuses `*` and texts that are no address.
  if (authority === "") return null;
  if (authority.toLowerCase() !== host?.toLowerCase()) return problem(OTHER);
  request.url = rest.startsWith("/") ? rest : `/${rest}`;
  return null;
}

function isHost(host: string): boolean {
  return HOST.test(host) && URL.canParse(`http://${host}`);
}

/** Node keeps the first of several and drops the others silently. */
function countOfHosts(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    if (name !== undefined && name.length === 4 && name.toLowerCase() === "host") count += 1;
  }
  return count;
}

function problem(message: string): ValidationError {
  return new ValidationError([{ field: "Host", rule: "http", message }]);
}
